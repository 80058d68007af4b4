"""Distance classes: how far apart two harts are, by the innermost level that holds both.

Interface: `distance(machine, a, b)` is the level's name ("core": siblings, then "ccx", "die", ...,
"system"); `classes(machine)` lists the possible ones from near to far; `sample(machine, harts,
count, draw)` is some of the harts among which every distance has pairs.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from uncore.topology.machine import Machine


def distance(machine: Machine, a: int, b: int) -> str:
    """The innermost level that holds harts a and b."""
    one, other = machine.shape[machine.core_of(a)], machine.shape[machine.core_of(b)]
    together = [mine == its for mine, its in zip(one, other, strict=True)]
    return machine.levels[together.count(True) - 1]


def classes(machine: Machine) -> list[str]:
    """Every class two harts of a machine may have, nearest first."""
    return [*reversed(machine.levels[:-1])]


def sample(machine: Machine, harts: Sequence[int], count: int, draw: int) -> tuple[int, ...]:
    """So many of the harts, in their order: drawn one by one, each with a partner at each distance.

    The order follows from the numbers of draw and hart alone, so it is the same on any host.
    """
    order = sorted(harts, key=lambda hart: sha256(f"{draw} {hart}".encode()).digest())
    taken: dict[int, None] = {}
    while len(taken) < min(count, len(order)):
        first, *others = (hart for hart in order if hart not in taken)
        partners: dict[str, int] = {}
        for hart in others:
            partners.setdefault(distance(machine, first, hart), hart)
        taken |= dict.fromkeys([first, *partners.values()])
    chosen = set(list(taken)[:count])
    return tuple(hart for hart in harts if hart in chosen)


def boundaries(machine: Machine, harts: Sequence[int]) -> dict[str, list[int]]:
    """Per level between system and core: where in `harts` each member begins."""
    starts: dict[str, list[int]] = {}
    for depth, level in list(enumerate(machine.levels))[1:-2]:
        members = [machine.shape[machine.core_of(hart)][depth] for hart in harts]
        starts[level] = [members.index(m) for m in dict.fromkeys(members)]
    return starts
