"""Computes distance classes of two harts, named after the innermost level that contains both.

`distance(machine, a, b)` returns that level's name ("core" for siblings, then "ccx", "die", ...,
"system"); `classes(machine)` lists the possible classes from near to far; `sample(machine, harts,
count, draw)` picks some of the harts, so that every distance occurs among them.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from uncore.topology.machine import Machine


def distance(machine: Machine, a: int, b: int) -> str:
    """Returns the name of the innermost level that contains harts a and b."""
    shape_a, shape_b = machine.shape[machine.core_of(a)], machine.shape[machine.core_of(b)]
    is_shared = [index_a == index_b for index_a, index_b in zip(shape_a, shape_b, strict=True)]
    return machine.levels[is_shared.count(True) - 1]


def classes(machine: Machine) -> list[str]:
    """Returns every class that two harts of the machine can have, the nearest first."""
    return [*reversed(machine.levels[:-1])]


def sample(machine: Machine, harts: Sequence[int], count: int, draw: int) -> tuple[int, ...]:
    """Returns `count` of the harts, in their order; each has one partner at each distance.

    A hash of `draw` and the hart's number selects the harts, so the result is the same on every
    host.
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
    """Returns, for each level between system and core, the positions in `harts` at which a member
    of the level begins.
    """
    starts: dict[str, list[int]] = {}
    for depth, level in list(enumerate(machine.levels))[1:-2]:
        members = [machine.shape[machine.core_of(hart)][depth] for hart in harts]
        starts[level] = [members.index(m) for m in dict.fromkeys(members)]
    return starts
