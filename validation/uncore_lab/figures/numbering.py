"""Recognises which operating system's numbering the rows of a user's matrix follow.

    recognised(rows, machine) -> Numbering      the matrix has as many CPUs as harts, or as cores
    check(numbering, rows, machine, path)       refuses a matrix whose siblings are not nearest

A matrix is read in the order that its machine's file states (`cpus`), unless another common order
explains much better which pairs are near.  In this case that order is taken, and a note says so.  A
matrix of another machine fits no order; its large errors show that.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from uncore.errors import UserError
from uncore.topology.cpus import hart_of_cpu
from uncore.topology.machine import Machine

Matrix = NDArray[np.float64]
# another order is taken only if its variance within levels is below this share of the variance with
# the file's order
BETTER_ORDER_RATIO = 0.5
MAX_SIBLING_RATIO = 1.1  # largest ratio of a handoff to a sibling to one to the nearest other CPU
MAX_ODD_SIBLINGS_SHARE = 0.1  # largest share of CPUs that may exceed MAX_SIBLING_RATIO
STATED_ORDER = "as its file says"


@dataclass(frozen=True)
class Numbering:
    name: str
    harts: Sequence[int | None]  # hart of each row; None for a CPU that the machine lacks


def recognised(rows: Matrix, machine: Machine) -> Numbering:
    stated, *other_orders = _numberings(machine, len(rows))
    best = min(
        other_orders, key=lambda order: _unexplained_variation(rows, order, machine), default=stated
    )
    better = _unexplained_variation(
        rows, best, machine
    ) < BETTER_ORDER_RATIO * _unexplained_variation(rows, stated, machine)
    return best if better else stated


def check(numbering: Numbering, rows: Matrix, machine: Machine, path: Path) -> None:
    cores = [None if hart is None else machine.hart_cores[hart] for hart in numbering.harts]
    odd_cpus = [
        odd_cpu for cpu in range(len(rows)) if (odd_cpu := _nearer_than_sibling(cpu, rows, cores))
    ]
    if len(odd_cpus) <= MAX_ODD_SIBLINGS_SHARE * len(rows):
        return
    cpu, sibling, nearest = odd_cpus[0]
    raise UserError(
        f"{path}:{cpu + 1}: CPU {cpu} is nearest to CPU {nearest} ({rows[cpu, nearest]:g} ns), but"
        f" {machine.id} has CPU {sibling} ({rows[cpu, sibling]:g} ns) as its sibling, and siblings"
        " are nearest; neither the order of `cpus` nor another that systems use makes sense of the"
        " matrix: expected one of this machine, or `cpus` as its system numbers them"
    )


def _nearer_than_sibling(
    cpu: int, rows: Matrix, cores: Sequence[int | None]
) -> tuple[int, int, int] | None:
    """Returns the CPU, its nearest sibling, and a CPU of another core that is nearer than this
    sibling; None if no CPU is nearer.
    """
    own_core = cores[cpu]
    if own_core is None:
        return None
    ns_of = {n: rows[cpu, n] for n in range(len(rows)) if n != cpu and not np.isnan(rows[cpu, n])}
    siblings = [n for n in ns_of if cores[n] == own_core]
    other_cores = [n for n in ns_of if cores[n] != own_core]
    if not siblings or not other_cores:
        return None
    sibling, nearest_other = (
        min(siblings, key=lambda n: ns_of[n]),
        min(other_cores, key=lambda n: ns_of[n]),
    )
    return (
        (cpu, sibling, nearest_other)
        if ns_of[sibling] > MAX_SIBLING_RATIO * ns_of[nearest_other]
        else None
    )


def _unexplained_variation(rows: Matrix, numbering: Numbering, machine: Machine) -> float:
    """Returns the sum of squared deviations of all pairs' logarithms from the mean of their level,
    which the levels leave unexplained.
    """
    shape = np.array(machine.shape)
    known_cpus = [cpu for cpu, hart in enumerate(numbering.harts) if hart is not None]
    cores = np.array(
        [machine.hart_cores[numbering.harts[cpu] or 0] for cpu in known_cpus], dtype=int
    )
    common_levels = (shape[cores][:, None] == shape[cores]).sum(axis=2)
    known_ns = rows[np.ix_(known_cpus, known_cpus)]
    measured_pairs = np.tri(len(known_cpus), k=-1, dtype=bool) & (known_ns > 0)
    groups = [
        np.log(known_ns[measured_pairs & (common_levels == depth)])
        for depth in np.unique(common_levels)
    ]
    return float(sum(group.var() * group.size for group in groups if group.size))


def _numberings(machine: Machine, count: int) -> Iterator[Numbering]:
    """Yields the numberings to try, beginning with that of the machine's file."""
    stated = hart_of_cpu(machine)
    if count == machine.cores:
        first_harts = {machine.harts_of(core)[0] for core in range(machine.cores)}
        stated = [hart for hart in stated if hart in first_harts]
    yield Numbering(STATED_ORDER, stated)
    if len(stated) != count or count % machine.cores or machine.harts % machine.cores:
        return
    threads, all_threads = count // machine.cores, machine.harts // machine.cores
    tree = range(machine.cores)
    for name, cores in {"": tree, ", sockets in turn": _in_turn(machine)}.items():
        by_core = [core * all_threads + n for core in cores for n in range(threads)]
        by_thread = [core * all_threads + n for n in range(threads) for core in cores]
        yield Numbering(f"siblings side by side{name}", by_core)
        if threads > 1:
            yield Numbering(f"first threads of all cores first{name}", by_thread)


def _in_turn(machine: Machine) -> list[int]:
    """Returns the cores with sockets in turn: the first core of each socket, then the second of
    each, and so on.
    """
    groups: dict[int, list[int]] = {}
    for core, path in enumerate(machine.shape):
        groups.setdefault(path[1] if len(path) > 1 else 0, []).append(core)
    longest = max(map(len, groups.values()))
    return [members[n] for n in range(longest) for members in groups.values() if n < len(members)]
