"""Explores machines: tries many designs with a few runs each, and finds the best compromises.

    explore(plan, workers, ...) -> Exploration     its rows are those of `uncore explore --json`

    document.py, quantity.py, formula.py    read the file of an exploration
    plan.py                                 the choices, runs and objectives of the file
    search.py                               chooses the designs to try next
    candidate.py, race.py                   a design and its runs, until complete or dropped
    figures.py                              figures of a design's runs

The search chooses a batch of designs, whose runs are executed. Then it receives their scores, in
the order of the batch. So the same designs are tried with any number of workers, and a search that
was interrupted can load its finished runs from the store.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, product
from math import isinf
from typing import Any

from uncore.errors import GuestError, UserError
from uncore.execution.enough import Plan
from uncore.execution.execute import OnInterrupted, execute
from uncore.execution.pool import Workers
from uncore.execution.saved_points import Store
from uncore.job import Job
from uncore.result import Result, Results
from uncore.result.frame import Framed
from uncore.study.explore.candidate import Candidate, TriedDesign, costs, dominates
from uncore.study.explore.figures import Traffic
from uncore.study.explore.formula import ANY
from uncore.study.explore.plan import Design, ExplorationPlan
from uncore.study.explore.search import searcher

TRAFFIC_OBSERVER = "traffic"


@dataclass(frozen=True, repr=False)
class Exploration(Framed):
    plan: ExplorationPlan
    tried: Sequence[TriedDesign]
    interrupted: bool = False

    @property
    def front(self) -> list[TriedDesign]:
        """Returns the Pareto front: allowed designs that no other allowed design dominates.

        The design that is best in the first objective comes first. Of designs with equal objectives
        only the first is included.
        """
        ranked: dict[tuple[float, ...], TriedDesign] = {}
        for tried in self.tried:
            if tried.found and tried.is_complete and tried.allowed:
                ranked.setdefault(costs(self.plan, tried.found.objectives), tried)
        best = [cost for cost in ranked if not any(dominates(other, cost) for other in ranked)]
        return [ranked[cost] for cost in sorted(best)]

    @property
    def results(self) -> Results:
        """Returns the results of all runs of the designs on the front."""
        return Results(result for tried in self.front for result in tried.results.values())

    def __repr__(self) -> str:
        return f"<{self.plan.title}: {len(self.tried)} designs, {len(self.front)} on the front>"

    def to_rows(self) -> list[dict[str, Any]]:
        """Returns a row for each design."""
        front = {tried.number for tried in self.front}
        return [
            {
                "design": tried.number,
                **tried.design,
                **{name: value for name, value in tried.known.items() if name not in tried.design},
                **dict(
                    zip(self._goals, tried.found.objectives if tried.found else (), strict=False)
                ),
                **self._spans(tried),
                "allowed": tried.allowed,
                "front": tried.number in front,
                "refused": tried.refused,
                "given_up": tried.given_up,
                "rounds": tried.rounds,
                "runs": [shlex.join(words) for words in tried.words.values()],
            }
            for tried in self.tried
        ]

    def _spans(self, tried: TriedDesign) -> dict[str, float | None]:
        """Returns columns with the smallest and the largest possible value of each objective when
        the design was dropped.
        """
        spans = tried.spans or [ANY] * len(self._goals)
        ends = zip(product(self._goals, ("min", "max")), chain(*spans), strict=True)
        return {f"{goal}_{end}": None if isinf(value) else value for (goal, end), value in ends}

    @property
    def _goals(self) -> list[str]:
        return [objective.words for objective in self.plan.objectives]


def explore(
    plan: ExplorationPlan,
    workers: Workers = 1,
    *,
    store: Store | None = None,
    resume: bool = False,
    done: Callable[[int], None] = lambda designs: None,
) -> Exploration:
    """Tries as many designs as the plan says. Calls `done` with the size of each finished batch."""
    search, tried, stops = searcher(plan), list[TriedDesign](), list[BaseException]()
    while not stops and len(tried) < plan.designs:
        count = min(plan.written.values.search.batch, plan.designs - len(tried))
        designs = search.ask(count)
        if not designs:
            break
        runner = _Batch(plan, tried, designs)
        runner.run(workers, store, resume, lambda _, stopped: stops.append(stopped))
        for result in runner.tried() if not stops else ():
            search.tell(result.design, result.found)
            tried.append(result)
        done(len(designs))
        if stops and not tried:
            raise stops[0]
        if not any(result.found for result in tried):
            file, why = plan.written.file, tried[0].refused
            raise UserError(f"{file}: none of {len(tried)} designs can be run; the first: {why}")
    return Exploration(plan, tried, interrupted=bool(stops))


class _Batch:
    """Designs whose runs are executed together."""

    def __init__(
        self, plan: ExplorationPlan, already_tried: Sequence[TriedDesign], designs: Sequence[Design]
    ) -> None:
        rivals = [tried for tried in already_tried if tried.is_complete and tried.allowed]
        self._candidates = [
            Candidate(plan, number, design, rivals)
            for number, design in enumerate(designs, len(already_tried) + 1)
        ]
        self._results: dict[Plan, Result] = {}
        self._traffic: dict[int, Traffic] = {}

    def run(
        self,
        workers: Workers,
        store: Store | None,
        resume: bool,
        interrupted: OnInterrupted,
    ) -> None:
        continuing = [candidate for candidate in self._candidates if candidate.may_continue()]
        plans = [runs for candidate in continuing for runs in candidate.runs.values()]
        results = execute(
            [runs.job for runs in plans],
            workers,
            wrong=self._record_guest_error,
            observers=frozenset({TRAFFIC_OBSERVER}),
            seen=lambda job, observed: self._traffic.update({id(job): observed[TRAFFIC_OBSERVER]}),
            store=store,
            resume=resume,
            interrupted=interrupted,
            plans=plans,
        )
        self._results = dict(zip(plans, results, strict=True))

    def _record_guest_error(self, job: Job, error: GuestError) -> None:
        for candidate in self._candidates:
            if any(runs.job.machine is job.machine for runs in candidate.runs.values()):
                candidate.refused = candidate.refused or str(error)

    def tried(self) -> Iterator[TriedDesign]:
        for candidate in self._candidates:
            yield candidate.tried(self._results, self._traffic)
