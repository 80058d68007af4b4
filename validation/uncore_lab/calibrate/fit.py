"""Solves a calibration, once for each choice that nobody recorded.

    solve(problem, home, slice, advance) -> Fitted

Homes are compared after a few iterations with few rounds.  Several of them may fit equally well,
and the slice is unknown as well.  `solve` takes the choice whose simulated pairs deviate from the
medians of their classes most like the measured pairs; this comparison needs no further fit.  Only
that choice is fitted completely.  The order of the cores that order.py finds is taken in the same
way, if the order in the file is clearly worse.
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
ALIKE_ERROR_RATIO = 1.02  # choices within this ratio of the least error fit equally well
# If the structure errors of two choices differ by less than this factor, the earlier choice is
# taken.
ALIKE_STRUCTURE_RATIO = 1.25
# Absolute tolerance on a class's relative error, for the noise of few rounds and the resolution of
# the measuring clock.
ALIKE_ERROR_SLACK = 0.002
# Least change of a residual if the logarithm of a number grows by 1. With a smaller change, even
# ten times the number would move no class by a tenth.
MIN_RESIDUAL_CHANGE = 0.03
# form of an entry of [unknowns] that stands for a range of values of its key
KEY_RANGE = re.compile(r"(\S+): ([a-z]*)(\d+) to \2(\d+)")

Advance = Callable[[int], None]


@dataclass(frozen=True)
class Fitted:
    problem: Problem
    choice: UnrecordedChoice
    solution: Solution
    alike: tuple[UnrecordedChoice, ...]  # other choices that fit equally well

    @property
    def steps(self) -> Vector:
        return self.solution.determined_steps(MIN_RESIDUAL_CHANGE)

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
    trials = []
    for choice in choices(problem.machine, home, slice_):
        search = problem.solve(choice, SEARCH_ROUNDS, most=SEARCH_EVALUATIONS)
        trials.append((choice, problem.error(search.residuals), search.steps))
        advance(1)
    least_error = min(error for _, error, _ in trials)
    alike = tuple(
        (choice, steps)
        for choice, error, steps in trials
        if error <= least_error * ALIKE_ERROR_RATIO + ALIKE_ERROR_SLACK
    )
    best, first_steps = _most_alike(problem, alike, slice_, advance)
    solution = problem.solve(best, FINAL_ROUNDS, first_steps)
    advance(1)
    equal_choices = tuple(c for c, _ in alike if (c.home, c.settings) != (best.home, best.settings))
    return Fitted(problem, best, solution, equal_choices)


def _most_alike(
    problem: Problem,
    alike: Sequence[tuple[UnrecordedChoice, Vector]],
    slice_: str,
    advance: Advance,
) -> tuple[UnrecordedChoice, Vector]:
    """Picks the choice whose pairs deviate from the medians of their classes most like the measured
    pairs. A single candidate is returned without a simulation.
    """
    placements = _placements(problem, slice_)
    if len(alike) == len(placements) == 1:
        return alike[0]
    candidates = []
    for choice, steps in alike:
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
    """Returns the pairs (slice, map) to try: each slice that may have owned the line with the
    file's order of cores, and the slice that the matrix shows also with the order that the matrix
    shows.
    """
    unknown = [key for key, _ in problem.machine.unknowns]
    sliced = owners(problem.machine) if "slice" in unknown else ["hash"]
    placements = [(owner, "") for owner in ([slice_] if slice_ else sliced)]
    order = problem.order() if "order" in unknown else None
    if order and (not slice_ or slice_ == order[0]):
        placements.append(order)
    return placements


def max_advances(machine: Machine, home: str, slice_: str) -> int:
    """Returns the largest number of times that `solve` calls `advance`."""
    return 2 * len(choices(machine, home, slice_)) + 1


def choices(machine: Machine, home: str, slice_: str) -> list[UnrecordedChoice]:
    """Returns every combination of a home and of values for the keys that the machine declares
    unknown.
    """
    homes = [home] if home else [f"node{node}" for node in range(len(machine.memories))]
    ranges = [match for _, text in machine.unknowns if (match := KEY_RANGE.match(text))]
    values = [
        [f"{key}={prefix}{n}" for n in range(int(first), int(last) + 1)]
        for key, prefix, first, last in (match.groups() for match in ranges)
    ]
    return [
        UnrecordedChoice(h, slice_ or "hash", settings)
        for h in homes
        for settings in product(*values)
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
