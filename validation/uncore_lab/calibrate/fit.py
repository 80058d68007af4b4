"""Solves a calibration, once for each choice that nobody recorded.

    solve(problem, home, slice, advance) -> Fitted

Homes are compared after a few iterations with few rounds.  Several of them may fit alike, and the
slice is unknown as well.  Among these, the choice is taken whose pairs differ from their class's
median as the measured pairs do, which needs no fit.  Only that choice is fitted to the end.  The
order of the cores (order.py) is found in the same way, if the order in the file is clearly worse.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product

import numpy as np

from uncore.errors import UserError
from uncore.topology.machine import Machine
from uncore_lab.calibrate.problem import Problem, UnrecordedChoice
from uncore_lab.figures.hardware import Matrix
from uncore_lab.fitting.solve import Solution, Vector

SEARCH_ROUNDS, FINAL_ROUNDS = 8, 60  # ping-pong rounds per pair: coarse search, final fit
SEARCH_EVALUATIONS = 3
ALIKE_ERROR_RATIO = 1.02  # choices within this ratio of the least error fit alike
# If the errors of structure of two choices differ by less than this factor, the first one is taken.
ALIKE_STRUCTURE_RATIO = 1.25
# Absolute tolerance of a class's relative error, because rounds are few and clocks have a
# resolution.
ALIKE_ERROR_SLACK = 0.002
# Least change of a residual if the logarithm of a number grows by 1. With a smaller change, even
# ten times the number would move no class by a tenth.
MIN_RESIDUAL_CHANGE = 0.03
# pattern of an unknown that is a key with a range of values
KEY_RANGE = re.compile(r"(\S+): ([a-z]*)(\d+) to \2(\d+)")

Advance = Callable[[int], None]


@dataclass(frozen=True)
class Fitted:
    problem: Problem
    choice: UnrecordedChoice
    solution: Solution
    alike: tuple[UnrecordedChoice, ...]  # other choices that fit as well

    @property
    def steps(self) -> Vector:
        return self.solution.firm(MIN_RESIDUAL_CHANGE)

    @cached_property
    def simulated(self) -> Matrix:
        """Returns the matrix simulated with the numbers as they are reported."""
        return self.problem.simulated(self.steps, self.choice, FINAL_ROUNDS)

    @property
    def classes(self) -> dict[str, tuple[float, float]]:
        """Returns each class's medians, measured and simulated, in ns."""
        measured = self.problem.classes(self.problem.measured, self.choice)
        simulated = self.problem.classes(self.simulated, self.choice)
        return {name: (ns, simulated[name]) for name, ns in measured.items()}


def solve(
    problem: Problem, home: str = "", slice_: str = "", advance: Advance = lambda _: None
) -> Fitted:
    tried = []
    for choice in choices(problem.machine, home, slice_):
        rough = problem.solve(choice, SEARCH_ROUNDS, most=SEARCH_EVALUATIONS)
        tried.append((choice, problem.error(rough.residuals), rough.steps))
        advance(1)
    least_error = min(error for _, error, _ in tried)
    alike = tuple(
        (choice, x)
        for choice, error, x in tried
        if error <= least_error * ALIKE_ERROR_RATIO + ALIKE_ERROR_SLACK
    )
    best, begin = _most_alike(problem, alike, slice_, advance)
    fine = problem.solve(best, FINAL_ROUNDS, begin)
    advance(1)
    others = tuple(c for c, _ in alike if (c.home, c.settings) != (best.home, best.settings))
    return Fitted(problem, best, fine, others)


def _most_alike(
    problem: Problem,
    rough: Sequence[tuple[UnrecordedChoice, Vector]],
    slice_: str,
    advance: Advance,
) -> tuple[UnrecordedChoice, Vector]:
    """Picks the choice whose pairs differ from their class's median most like the measured ones. A
    single candidate is returned without a simulation.
    """
    placements = _placements(problem, slice_)
    if len(rough) == len(placements) == 1:
        return rough[0]
    candidates = []
    for choice, steps in rough:
        for owner, order in placements:
            candidate = replace(choice, slice=owner, order=order)
            candidates.append(
                (_rms(problem.structure(steps, candidate, SEARCH_ROUNDS)), candidate, steps)
            )
        advance(1)
    least_rms = min(rms for rms, _, _ in candidates)
    near_best = [
        candidate
        for candidate in candidates
        if not candidate[1].order and candidate[0] <= least_rms * ALIKE_STRUCTURE_RATIO
    ] or candidates
    least_rms, best, _ = min(near_best, key=lambda candidate: candidate[0])
    equal_structure = [
        candidate
        for candidate in near_best
        if candidate[1].slice == best.slice and candidate[0] <= least_rms * ALIKE_STRUCTURE_RATIO
    ]
    return equal_structure[0][1:]


def _placements(problem: Problem, slice_: str) -> list[tuple[str, str]]:
    """Returns (slice, map) to try. Each slice that may have owned the line comes with the file's
    order of cores; the slice that the matrix points to comes also with the order that the matrix
    shows.
    """
    unknown = [key for key, _ in problem.machine.unknowns]
    sliced = owners(problem.machine) if "slice" in unknown else ["hash"]
    owned = [(owner, "") for owner in ([slice_] if slice_ else sliced)]
    order = problem.order() if "order" in unknown else None
    if order and (not slice_ or slice_ == order[0]):
        owned.append(order)
    return owned


def turns(machine: Machine, home: str, slice_: str) -> int:
    """Returns the largest number of times that `solve` calls `advance`."""
    return 2 * len(choices(machine, home, slice_)) + 1


def choices(machine: Machine, home: str, slice_: str) -> list[UnrecordedChoice]:
    """Returns homes and whatever else the machine declares unknown, in every combination."""
    homes = [home] if home else [f"node{node}" for node in range(len(machine.memories))]
    ranges = [match for _, text in machine.unknowns if (match := KEY_RANGE.match(text))]
    values = [
        [f"{key}={word}{n}" for n in range(int(first), int(last) + 1)]
        for key, word, first, last in (match.groups() for match in ranges)
    ]
    return [
        UnrecordedChoice(h, slice_ or "hash", picked) for h in homes for picked in product(*values)
    ]


def owners(machine: Machine) -> list[str]:
    return [str(n) for n in range(len(machine.resolvers[0].slices))]


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
