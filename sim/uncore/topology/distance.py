"""Distance classes: how far apart two harts are, named after the innermost level that holds both.

`distance(machine, a, b)` is that level's name ("core": siblings, then "ccx", "die", ..., "system");
`classes(machine)` lists the possible ones from near to far; `sample(machine, harts, count, draw)`
picks some of the harts, so that every distance occurs among them.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from uncore.topology.machine import Machine


def distance(machine: Machine, a: int, b: int) -> str:
    """Returns the name of the innermost level that holds harts a and b."""
    shape_a, shape_b = machine.shape[machine.core_of(a)], machine.shape[machine.core_of(b)]
    is_shared = [ours == theirs for ours, theirs in zip(shape_a, shape_b, strict=True)]
    return machine.levels[is_shared.count(True) - 1]


def classes(machine: Machine) -> list[str]:
    """Lists every class that two harts of the machine may have, nearest first."""
    return [*reversed(machine.levels[:-1])]


def sample(machine: Machine, harts: Sequence[int], count: int, draw: int) -> tuple[int, ...]:
    """Picks `count` of the harts, each with one partner at each distance, and keeps their order.

    A hash of the number `draw` and the hart's number decides, so every host picks the same.
    """
    order = sorted(harts, key=lambda hart: sha256(f"{draw} {hart}".encode()).digest())
    sampled: dict[int, None] = {}
    while len(sampled) < min(count, len(order)):
        first, *others = (hart for hart in order if hart not in sampled)
        partners: dict[str, int] = {}
        for hart in others:
            partners.setdefault(distance(machine, first, hart), hart)
        sampled |= dict.fromkeys([first, *partners.values()])
    sample_ = set(list(sampled)[:count])
    return tuple(hart for hart in harts if hart in sample_)


def boundaries(machine: Machine, harts: Sequence[int]) -> dict[str, list[int]]:
    """Returns, for each level between system and core, the positions in `harts` where a member
    begins.
    """
    starts: dict[str, list[int]] = {}
    for depth, level in list(enumerate(machine.levels))[1:-2]:
        members = [machine.shape[machine.core_of(hart)][depth] for hart in harts]
        starts[level] = [members.index(m) for m in dict.fromkeys(members)]
    return starts
