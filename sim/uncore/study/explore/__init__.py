"""Explore: many machines tried on a few runs each, and the best compromises.

    explore(plan, workers, ...) -> Exploration     rows as of `uncore explore --json`

    document.py, quantity.py, formula.py    the file, as it is written
    plan.py                                 the file's choices, runs and objectives
    search.py                               choice of the designs to try next
    figures.py                              figures of their runs

A batch of designs is chosen and all its runs are executed; then the search is given their scores in
the batch's order.  So the same designs are tried on any number of workers, and a search that was
interrupted loads its runs from the store.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from uncore.errors import GuestError, UserError
from uncore.execution.execute import Interrupted, execute
from uncore.execution.pool import Workers
from uncore.execution.saved_points import Store
from uncore.job import Job
from uncore.job.schema import options
from uncore.result import Result, Results
from uncore.result.frame import Framed
from uncore.study.explore import figures
from uncore.study.explore.figures import Traffic
from uncore.study.explore.plan import Design, Plan
from uncore.study.explore.search import Found, searcher

TRAFFIC = "traffic"


@dataclass(frozen=True)
class Tried:
    """A design and its results, or why it could not be run."""

    number: int
    design: Design
    words: Mapping[str, Sequence[str]]  # by run
    results: Mapping[str, Result] = field(default_factory=dict)
    known: Mapping[str, float | str] = field(
        default_factory=dict
    )  # values of the names in formulas
    found: Found | None = None
    refused: str = ""  # why it could not be run

    @property
    def allowed(self) -> bool:
        return self.found is not None and all(excess <= 0 for excess in self.found.excesses)


@dataclass(frozen=True, repr=False)
class Exploration(Framed):
    plan: Plan
    tried: Sequence[Tried]
    interrupted: bool = False

    @property
    def front(self) -> list[Tried]:
        """The Pareto front: allowed designs that no other allowed design dominates.

        The best in the first objective comes first; of equal designs only the first is there.
        """
        signs = [-1 if tried.most else 1 for tried in self.plan.objectives]
        costs: dict[tuple[float, ...], Tried] = {}
        for tried in self.tried:
            if tried.found and tried.allowed:
                values = zip(signs, tried.found.objectives, strict=True)
                costs.setdefault(tuple(sign * value for sign, value in values), tried)
        best = [cost for cost in costs if not any(_dominates(other, cost) for other in costs)]
        return [costs[cost] for cost in sorted(best)]

    @property
    def results(self) -> Results:
        """The runs behind the front."""
        return Results(result for tried in self.front for result in tried.results.values())

    def __repr__(self) -> str:
        return f"<{self.plan.title}: {len(self.tried)} designs, {len(self.front)} on the front>"

    def to_rows(self) -> list[dict[str, Any]]:
        """A row for each design."""
        front = {tried.number for tried in self.front}
        return [
            {
                "design": tried.number,
                **tried.design,
                **{name: value for name, value in tried.known.items() if name not in tried.design},
                **dict(
                    zip(self._goals, tried.found.objectives if tried.found else (), strict=False)
                ),
                "allowed": tried.allowed,
                "front": tried.number in front,
                "refused": tried.refused,
                "runs": [shlex.join(words) for words in tried.words.values()],
            }
            for tried in self.tried
        ]

    @property
    def _goals(self) -> list[str]:
        return [objective.words for objective in self.plan.objectives]


def _dominates(costs: Sequence[float], other: Sequence[float]) -> bool:
    return costs != other and all(a <= b for a, b in zip(costs, other, strict=True))


def explore(
    plan: Plan,
    workers: Workers = 1,
    *,
    store: Store | None = None,
    resume: bool = False,
    done: Callable[[int], None] = lambda designs: None,
) -> Exploration:
    """Tries designs up to the plan's number; `done` is called with the size of each batch."""
    search, tried, stops = searcher(plan), list[Tried](), list[BaseException]()
    while not stops and len(tried) < plan.designs:
        count = min(plan.written.values.search.batch, plan.designs - len(tried))
        designs = search.ask(count)
        if not designs:
            break
        runner = _Batch(plan, len(tried), designs)
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

    def __init__(self, plan: Plan, before: int, designs: Sequence[Design]) -> None:
        self._plan = plan
        self._before = before
        self._designs = designs
        self._jobs: list[dict[str, tuple[Job, Sequence[str]]]] = []
        self._refused: dict[int, str] = {}  # by index in the batch
        for number, design in enumerate(designs):
            jobs: dict[str, tuple[Job, Sequence[str]]] = {}
            try:
                jobs = {name: (job, words) for name, job, words in plan.jobs(design)}
            except UserError as error:
                self._refused[number] = str(error)
            self._jobs.append(jobs)
        self._results: dict[int, Result] = {}  # by the job's identity
        self._traffic: dict[Any, Traffic] = {}

    def run(
        self,
        workers: Workers,
        store: Store | None,
        resume: bool,
        interrupted: Interrupted,
    ) -> None:
        jobs = [job for by_name in self._jobs for job, _ in by_name.values()]
        results = execute(
            jobs,
            workers,
            wrong=self._wrong,
            probes=frozenset({TRAFFIC}),
            seen=lambda job, observed: self._traffic.update({_point_key(job): observed[TRAFFIC]}),
            store=store,
            resume=resume,
            interrupted=interrupted,
        )
        self._results = {id(job): result for job, result in zip(jobs, results, strict=True)}

    def _wrong(self, job: Job, error: GuestError) -> None:
        for number, by_name in enumerate(self._jobs):
            if any(own.machine is job.machine for own, _ in by_name.values()):
                self._refused.setdefault(number, str(error))

    def tried(self) -> Iterator[Tried]:
        for index, (design, jobs) in enumerate(zip(self._designs, self._jobs, strict=True)):
            words = {name: command for name, (_, command) in jobs.items()}
            results = {name: self._results[id(job)] for name, (job, _) in jobs.items()}
            number, refused = self._before + index + 1, self._refused.get(index, "")
            failures = [
                f for result in results.values() for point in result.points for f in point.failures
            ]
            if refused or failures:
                yield Tried(number, design, words, results, refused=refused or failures[0])
                continue
            values = self._values(design, jobs)
            score = Found(
                [objective.formula.value(values) for objective in self._plan.objectives],
                [constraint.excess(values) for constraint in self._plan.constraints],
            )
            yield Tried(number, design, words, results, values, score)

    def _values(
        self, design: Design, jobs: Mapping[str, tuple[Job, Sequence[str]]]
    ) -> dict[str, float | str]:
        machine = next(iter(jobs.values()))[0].machine
        values: dict[str, float | str] = {**figures.of_machine(machine), **self._plan.known(design)}
        for name, (job, _) in jobs.items():
            traffic = {point.seed: self._traffic[_point_key(point)] for point in job.points()}
            of_run = figures.of_run(job, self._results[id(job)], traffic, self._plan.written)
            values |= {f"{name}.{figure}": value for figure, value in of_run.items()}
        for name, formula in self._plan.figures.items():
            values[name] = formula.value(values)
        return values


def _point_key(point: Job) -> Any:
    """A key of a point within its batch; equal points share observations."""
    policies = tuple(
        getattr(point, name) for name, option in options(Job).items() if option.form.word
    )
    run = point.program.sha256, point.parameters, point.threads, point.seed
    return id(point.machine), run, policies
