"""Solves a calibration, once for each choice that nobody recorded.

    solve(problem, home, slice, advance) -> Fitted

The simulated handoff is all but linear in the latencies of components, so scipy's trust-region
least squares needs a few turns; its derivatives are differences over STEP, large against the
picosecond that durations are rounded to.  Homes are compared after a few turns with few rounds; of
those that fit alike, and of all slices, the one whose pairs differ from their class's median as the
measured ones do is taken, which needs no fit; only that choice is fitted to the end.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
from scipy.optimize import least_squares

from uncore.calibrate.problem import Choice, Problem, Vector
from uncore.errors import UserError
from uncore.topology.machine import Machine

STEP = 0.03
COARSE, FINE = 8, 60  # rounds of a pair
FEW, ENOUGH = 3, 12  # evaluations, derivatives not counted
ALIKE = 1.02  # choices whose error differs by less are not told apart
HOMES = 1.25  # homes whose structure differs by less: the first is as good
GRAIN = 0.002  # of a class: nor by less than this, as rounds are few and clocks have a grain
FAINT = 0.03  # of residuals by logarithms: a tenfold number would move no class by a tenth
RANGE = re.compile(r"(\S+): ([a-z]*)(\d+) to \2(\d+)")  # of an unknown that is a key

Advance = Callable[[int], None]


@dataclass(frozen=True)
class Fitted:
    problem: Problem
    choice: Choice
    logs: Vector
    jacobian: Vector  # of the residuals by the logarithms
    residuals: Vector
    alike: tuple[Choice, ...]  # other choices that fit as well


def solve(
    problem: Problem, home: str = "", slice_: str = "", advance: Advance = lambda _: None
) -> Fitted:
    tried = []
    for choice in choices(problem.machine, home, slice_):
        rough = _solved(problem, choice, problem.start, COARSE, FEW)
        tried.append((choice, problem.error(rough.fun), problem.start + rough.x))
        advance(1)
    least = min(error for _, error, _ in tried)
    alike = tuple((choice, logs) for choice, error, logs in tried if error <= least * ALIKE + GRAIN)
    best, logs = _most_alike(problem, alike, slice_, advance)
    fine = _solved(problem, best, logs, FINE, ENOUGH)
    advance(1)
    others = tuple(c for c, _ in alike if (c.home, c.settings) != (best.home, best.settings))
    moved = _determined(fine.jac, logs + fine.x - problem.start)
    return Fitted(problem, best, problem.start + moved, fine.jac, fine.fun, others)


def _determined(jacobian: Vector, moved: Vector) -> Vector:
    """Without its part along directions in which residuals hardly change: that follows grains."""
    _, singular, directions = np.linalg.svd(jacobian, full_matrices=False)
    firm = directions[singular > FAINT]
    return np.asarray(firm.T @ (firm @ moved))


def _most_alike(
    problem: Problem, rough: Sequence[tuple[Choice, Vector]], slice_: str, advance: Advance
) -> tuple[Choice, Vector]:
    """By the structure inside the classes, where there is something to choose."""
    slices = [] if slice_ else owners(problem.machine)
    if len(rough) == 1 and not slices:
        return rough[0]
    found = []
    for choice, logs in rough:
        for owner in slices or [choice.slice]:
            one = replace(choice, slice=owner)
            found.append((_rms(problem.structure(logs, one, COARSE)), one, logs))
        advance(1)
    least, best, _ = min(found, key=lambda one: one[0])
    same = [one for one in found if one[1].slice == best.slice and one[0] <= least * HOMES]
    return same[0][1:]


def steps(machine: Machine, home: str, slice_: str) -> int:
    """How often `solve` tells of a step, at most."""
    return 2 * len(choices(machine, home, slice_)) + 1


def choices(machine: Machine, home: str, slice_: str) -> list[Choice]:
    """Homes and whatever else the machine declares unknown, in every combination."""
    homes = [home] if home else [f"node{node}" for node in range(len(machine.memories))]
    ranges = [match for _, text in machine.unknowns if (match := RANGE.match(text))]
    values = [
        [f"{key}={word}{n}" for n in range(int(first), int(last) + 1)]
        for key, word, first, last in (match.groups() for match in ranges)
    ]
    return [Choice(h, slice_ or "hash", picked) for h in homes for picked in product(*values)]


def owners(machine: Machine) -> Sequence[str]:
    """Slices that may have owned the line, where stops differ and the machine says so."""
    if not any(key == "slice" for key, _ in machine.unknowns):
        return []
    return [str(n) for n in range(len(machine.resolvers[0].slices))]


def _solved(problem: Problem, choice: Choice, logs: Vector, rounds: int, most: int) -> Any:
    """In steps from `logs`, so that the first trust region is one e-fold wide."""

    def residuals(step: Vector) -> Vector:
        return problem.residuals(logs + step, choice, rounds)

    def jacobian(step: Vector) -> Vector:
        base = residuals(step)
        slopes = [(residuals(step + STEP * unit) - base) / STEP for unit in np.eye(len(step))]
        return np.array(slopes).T

    low, high = problem.bounds
    return least_squares(
        residuals,
        np.zeros_like(logs),
        jac=jacobian,
        bounds=(low - logs, high - logs),
        xtol=1e-4,
        ftol=1e-6,
        max_nfev=most,
    )


def _rms(residuals: Vector) -> float:
    return float(np.sqrt(np.mean(residuals**2)))


def check_choice(machine: Machine, home: str, slice_: str) -> None:
    nodes = len(machine.memories)
    if home and home != "pair" and home not in (f"node{n}" for n in range(nodes)):
        raise UserError(
            f"--home {home}: {machine.id} has {nodes} memory nodes; expected node0"
            + (f" to node{nodes - 1}" if nodes > 1 else "")
            + ", or pair"
        )
    slices = len(machine.resolvers[0].slices)
    if slice_ not in ("", "hash", *map(str, range(slices))):
        raise UserError(
            f"--slices {slice_}: expected hash, or a slice from 0 to {slices - 1} of {machine.id}"
        )
