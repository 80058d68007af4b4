"""Splits the latency of handoffs inside a shared cache, where one slice owns the line, into a part
of each core: L(i, j) = part(i) + part(j).

    parts_of(machine, ns) -> {"ccx0": AdditiveParts(ns of each of its members, r2), ...}
    sliced_level(machine) -> the innermost level whose resolver has several slices
    shared_cache(machine) -> the innermost level that resolves ownership

Members are cores, or groups of cores that share a private cache.  The parts are a least-squares fit
over the pairs; `r2` is the share of the pairs' variance that the sums explain.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from uncore.topology.machine import Machine
from uncore_lab.figures.hardware import Matrix, level_of_pairs, members_of

MIN_MEMBERS = 6  # fewer members have too few pairs to separate parts from noise


class AdditiveParts(NamedTuple):
    ns: NDArray[np.float64]
    r2: float


def shared_cache(machine: Machine) -> str:
    return machine.resolvers[0].level


def sliced_level(machine: Machine) -> str:
    levels = (resolver.level for resolver in machine.resolvers if len(resolver.slices) > 1)
    return next(levels, shared_cache(machine))


def parts_of(machine: Machine, ns: Matrix) -> dict[str, AdditiveParts]:
    level = sliced_level(machine)
    domain, member = members_of(machine, level)
    pairs_of_level = np.argwhere((level_of_pairs(machine) == level) & ~np.isnan(ns))
    parts = {}
    for index in range(int(domain.max()) + 1):
        members = np.unique(member[domain == index])
        pairs = pairs_of_level[domain[pairs_of_level[:, 0]] == index]
        if len(members) >= MIN_MEMBERS and len(pairs) > len(members):
            member_indices = np.searchsorted(members, member[pairs])
            parts[f"{level}{index}"] = _fitted_parts(
                ns[tuple(pairs.T)], member_indices, len(members)
            )
    return parts


def _fitted_parts(
    truth: NDArray[np.float64], member_indices: NDArray[np.int64], members: int
) -> AdditiveParts:
    rows = np.zeros((len(truth), members))
    for member_index in member_indices.T:
        rows[np.arange(len(truth)), member_index] += 1
    parts, *_ = np.linalg.lstsq(rows, truth, rcond=None)
    spread = float(np.var(truth))
    return AdditiveParts(
        np.asarray(parts, dtype=np.float64),
        1 - float(np.var(truth - rows @ parts)) / spread if spread else 0.0,
    )
