"""A design that is being tried: its runs so far, and whether it may still be on the front.

    Candidate(plan, number, design, rivals)
        .runs          its runs by name, which are executed in rounds (race.py)
        .tried(...)    returns the finished record, a TriedDesign

A design is dropped if a bound certainly excludes it, or if a rival certainly beats it. A rival is
an allowed design whose runs are complete. A dropped design cannot be on the front, and every design
that it would beat is beaten by the rival, too. So the front is the same as if all runs were
complete.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from uncore.errors import UserError
from uncore.execution.enough import Plan
from uncore.result import Result
from uncore.study.explore import figures
from uncore.study.explore.figures import Observed
from uncore.study.explore.formula import Span
from uncore.study.explore.plan import Design, ExplorationPlan
from uncore.study.explore.race import SearchedRuns, SeedBySeedRuns, runs_of
from uncore.study.explore.search import DesignScore


@dataclass(frozen=True)
class TriedDesign:
    """A design and its results, or the reason why it could not be run."""

    number: int
    design: Design
    words: Mapping[str, Sequence[str]]  # command of each run, by its name
    results: Mapping[str, Result] = field(default_factory=dict)
    # values of the names that formulas may use
    known: Mapping[str, float | str] = field(default_factory=dict)
    found: DesignScore | None = None  # score, computed from the runs that were made
    refused: str = ""  # reason why it could not be run
    given_up: str = ""  # reason why further runs cannot bring it onto the front
    # smallest and largest possible value of each objective when the design was given up
    spans: Sequence[Span] = ()

    @property
    def is_complete(self) -> bool:
        return self.found is not None and not self.given_up

    @property
    def allowed(self) -> bool:
        """Returns True if the design satisfies all bounds, judged by the runs that were made."""
        return self.found is not None and all(
            excess is not None and excess <= 0 for excess in self.found.excesses
        )

    @property
    def rounds(self) -> int:
        """Returns the number of repeats that all workloads have."""
        return min((len(result.points) for result in self.results.values()), default=0)


def costs(plan: ExplorationPlan, objectives: Sequence[float]) -> tuple[float, ...]:
    """Returns the objectives as costs: those to maximise are negated, so that less is better."""
    pairs = zip(plan.objectives, objectives, strict=True)
    return tuple(-value if objective.maximise else value for objective, value in pairs)


def dominates(costs: Sequence[float], other: Sequence[float]) -> bool:
    return costs != other and all(a <= b for a, b in zip(costs, other, strict=True))


class Candidate:
    def __init__(
        self, plan: ExplorationPlan, number: int, design: Design, rivals: Sequence[TriedDesign]
    ) -> None:
        self._plan, self.number, self.design, self._rivals = plan, number, design, rivals
        self.refused = ""
        self.runs: dict[str, SeedBySeedRuns | SearchedRuns] = {}
        try:
            self.runs = {name: runs_of(job, self.may_continue) for name, job in plan.jobs(design)}
        except UserError as error:
            self.refused = str(error)

    def may_continue(self) -> bool:
        points = [point for runs in self.runs.values() for point in runs.points]
        failed = self.refused or any(point.failures for point in points)
        return bool(self.runs) and not failed and not self._reason_to_drop

    @property
    def _reason_to_drop(self) -> str:
        spans = self._spans()
        for constraint in self._plan.constraints:
            if constraint.least_excess(spans) > 0:
                return f"not {constraint.words}"
        goals = self._goals(spans)
        ends = zip(self._plan.objectives, goals, strict=True)
        best = costs(self._plan, [span[objective.maximise] for objective, span in ends])
        for rival in self._rivals:
            if rival.found and dominates(costs(self._plan, rival.found.objectives), best):
                return f"design {rival.number} is better"
        return ""

    def _goals(self, spans: Mapping[str, Span]) -> list[Span]:
        return [objective.formula.span(spans) for objective in self._plan.objectives]

    def _spans(self) -> dict[str, Span]:
        """Returns, for each name in formulas, an interval that contains its value whatever the
        results of the remaining runs will be.
        """
        numbers = {k: v for k, v in self._values_without_runs.items() if not isinstance(v, str)}
        spans = {name: (value, value) for name, value in numbers.items()}
        for name, runs in self.runs.items():
            spans[f"{name}.{figures.THROUGHPUT_NAME}"] = runs.span(figures.throughput)
        for name, formula in self._plan.figures.items():
            spans[name] = formula.span(spans)
        return spans

    @cached_property
    def _values_without_runs(self) -> Mapping[str, float | str]:
        """Returns the values that are known without a run."""
        machine = next(iter(self.runs.values())).job.machine
        return {**figures.of_machine(machine), **self._plan.known(self.design)}

    def tried(self, results: Mapping[Plan, Result], traffic: Observed) -> TriedDesign:
        """Returns the finished record of the candidate. `traffic` is the traffic of each point."""
        runs_made = {name: runs for name, runs in self.runs.items() if runs in results}
        words = {
            name: self._plan.words(self.design, name, runs.job_made)
            for name, runs in runs_made.items()
        }
        results_made = {name: results[runs] for name, runs in runs_made.items()}
        points = [point for result in results_made.values() for point in result.points]
        failures = [failure for point in points for failure in point.failures]
        if self.refused or failures:
            refused = self.refused or failures[0]
            return TriedDesign(self.number, self.design, words, results_made, refused=refused)
        values = self._values(results_made, traffic)
        excesses = [
            constraint.excess(values) if results_made or constraint.names <= values.keys() else None
            for constraint in self._plan.constraints
        ]
        goals = [goal.formula.value(values) for goal in self._plan.objectives if results_made]
        score = DesignScore(goals, excesses)
        tried = TriedDesign(self.number, self.design, words, results_made, values, score)
        if results_made and all(runs.is_complete for runs in runs_made.values()):
            return tried
        return replace(tried, given_up=self._reason_to_drop, spans=self._goals(self._spans()))

    def _values(self, results: Mapping[str, Result], traffic: Observed) -> dict[str, float | str]:
        values = dict(self._values_without_runs)
        for name, result in results.items():
            jobs = self.runs[name].kept
            run_figures = figures.of_run(jobs, result, traffic, self._plan.written)
            values |= {f"{name}.{figure}": value for figure, value in run_figures.items()}
        for name, formula in self._plan.figures.items():
            if results or formula.names <= values.keys():
                values[name] = formula.value(values)
        return values
