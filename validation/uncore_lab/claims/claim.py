"""The class of a claim: its text, its runs, and a function of their results that computes the
answer.

    @claim("free() takes 242 ns", expected=figure(242), unit="ns", runs=FREE, ...)
    def free_local(local: Curve) -> float:
        return local.point.cell("free_time", 0, 0)

    free_local.jobs() -> the job of each run     free_local.amount(curves) -> the number

A claim's name is the name of its function, with hyphens.  The function's parameters name the runs
that it needs.  It is called once for each seed, with the curves of that seed.  README.md explains
the keys of a claim.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from uncore.errors import UserError, suggestion
from uncore.execution.request import make_job
from uncore.job import Job
from uncore_lab.claims.amounts import Curve
from uncore_lab.claims.ranges import Range

ENGINE = "native"


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """The runs of a curve, as arguments of `uncore run`."""

    machine: str
    workload: str
    threads: str = "1"
    set: dict[str, str | int] = {}
    with_: dict[str, str] = {}
    place: str = "compact"
    home: str = "addressed"
    smt: bool = True

    def job(self) -> Job:
        return make_job(
            self.machine,
            self.workload,
            self.threads,
            parameters={name: str(value) for name, value in self.set.items()},
            overrides=self.with_,
            placement=self.place,
            home=self.home,
            smt=self.smt,
            engine=ENGINE,
            seeds=None,
            within=None,
        )


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A function in a file of `articles`, with the arguments of its decorator `claim`."""

    id: str
    claim: str
    source: str
    figures: Sequence[int]
    expected: Range
    unit: str
    runs: Mapping[str, Run]
    answer: Callable[..., float]
    neutral: float | None = None
    fitted: Sequence[str] = ()
    reason: str = ""

    def __post_init__(self) -> None:
        for run in self._run_names():
            if run not in self.runs:
                raise ValueError(f"{self.id}: there is no run '{run}'.{suggestion(run, self.runs)}")

    def jobs(self) -> dict[str, Job]:
        """Returns the job of each run by its name."""
        jobs = {}
        for name, run in self.runs.items():
            try:
                jobs[name] = run.job()
            except UserError as error:
                raise UserError(f"claim {self.id}: run '{name}': {error}") from None
        return jobs

    def amount(self, curves: Mapping[str, Curve]) -> float:
        """Computes the claim's number from the runs; raises UserError if a result lacks a value
        that the function uses.
        """
        try:
            return float(self.answer(**{run: curves[run] for run in self._run_names()}))
        except (LookupError, TypeError, ValueError, ZeroDivisionError) as error:
            raise UserError(f"claim {self.id} has no value: {error!r}") from None

    def _run_names(self) -> list[str]:
        """Returns the names of the runs that are parameters of the function; all runs if it takes
        `**runs`.
        """
        parameters = inspect.signature(self.answer).parameters.values()
        if any(parameter.kind == parameter.VAR_KEYWORD for parameter in parameters):
            return list(self.runs)
        return [parameter.name for parameter in parameters]


def claim(
    text: str, *, neutral: float | None = None, **keys: Any
) -> Callable[[Callable[..., float]], Claim]:
    """Returns a decorator that makes a claim of the function that answers it."""

    def make_claim(answer: Callable[..., float]) -> Claim:
        return Claim(
            id=answer.__name__.replace("_", "-"),
            claim=text,
            neutral=None if neutral is None else float(neutral),
            answer=answer,
            **keys,
        )

    return make_claim
