"""Distance classes: how far apart two harts are, by the innermost level that holds both.

Interface: `distance(machine, a, b)` is the level's name ("core": siblings, then "ccx", "die", ...,
"system"); `classes(machine)` lists the possible ones from near to far.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from uncore.topology.machine import Machine

OUTERMOST = "system"


def distance(machine: Machine, a: int, b: int) -> str:
    """The innermost level that holds harts a and b."""
    per_core = machine.threads_per_core
    one, other = machine.shape[a // per_core], machine.shape[b // per_core]
    shared = OUTERMOST
    for level, mine, its in zip(machine.levels, one, other, strict=False):
        if mine != its:
            break
        shared = level
    return shared


def classes(machine: Machine) -> list[str]:
    """Every class two harts of a machine may have, nearest first."""
    return [*reversed(machine.levels[:-1]), OUTERMOST]


def boundaries(machine: Machine) -> dict[str, list[int]]:
    """Per level but the innermost: the first hart of each member; for the lines of a heat map."""
    starts: dict[str, list[int]] = {}
    for depth, level in enumerate(machine.levels[:-2]):
        members = [shape[: depth + 1] for shape in machine.shape]
        first = [c for c, member in enumerate(members) if c == 0 or member != members[c - 1]]
        starts[level] = [c * machine.threads_per_core for c in first]
    return starts
