"""What commands that simulate let the user choose of a run, each group the one before and more.

Choices     the machine's numbers, homes, the engine, a seed
Placed      where threads run, and the workload's parameters
Seeded      for which it matters who comes first: that is left to chance
Repeated    several such runs
Several     several values of each

Nothing compares or prints them, and what a dataclass does for that is compiled at each start.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import product
from typing import Annotated, Any, Literal

from cyclopts import Parameter, validators

from uncore.cli.options.engines import Engines
from uncore.cli.options.single import Set, With
from uncore.errors import UserError
from uncore.execution.request import REPEATS, find_program, make_job, usual_seeds
from uncore.job import Job
from uncore.job.option_values import axes, duration, pairs, places, seeds
from uncore.program import Program

POLICIES = {"home", "slices", "engine", "slow", "placement"}  # said as a Job has them


@dataclass(frozen=True, eq=False, repr=False)
class _Choices:
    """What every command that simulates lets the user choose."""

    with_: With = field(default_factory=list)
    smt: Annotated[Literal["on", "off"], Parameter(help="second hardware threads")] = "on"
    home: Annotated[
        str,
        Parameter(
            help="where memory lives: addressed, node0, node1, ..., interleave, first-touch, pair"
        ),
    ] = "addressed"
    slices: Annotated[str, Parameter(help="hash, or the slice that owns every line")] = "hash"
    engine: Annotated[str, Parameter(help="one of `uncore engines`")] = "native"
    slow: Annotated[
        bool, Parameter(negative="", help="as many harts as asked for on an engine that is slow")
    ] = False
    watchdog: Annotated[
        str, Parameter(help="simulated time without an operation after which a run is given up")
    ] = "100ms"
    seed: Annotated[
        str | None,
        Parameter(help="whole number from which follows what is left to chance; none: nothing is"),
    ] = None

    order: Annotated[
        Literal["tso", "weak"] | None,
        Parameter(
            help="order in which accesses are seen: total store order, or as weak as RVWMO allows"
        ),
    ] = None

    def numbers(self) -> list[str]:
        """Of the machine, as --with says them."""
        return [*self.with_, *([f"core.order={self.order}"] if self.order else [])]

    def policies(self) -> dict[str, Any]:
        """As fields of a Job."""
        said = {one: value for one, value in asdict(self).items() if one in POLICIES}
        return {
            **said,
            "smt": self.smt == "on",
            "watchdog": duration("--watchdog", self.watchdog),
            "seeds": self.seeds(),
        }

    def seeds(self) -> tuple[int, ...]:
        """Of a job: in lockstep if the user does not say otherwise."""
        return seeds("--seed", self.seed or "none", 1)


@dataclass(frozen=True, eq=False, repr=False)
class _OfWorkload:
    """Stands first in --help, as bases do from the last on."""

    set_: Set = field(default_factory=list)


@Parameter(name="*")
@dataclass(frozen=True, eq=False, repr=False)
class Choices(Engines, _Choices):
    """Both."""


@Parameter(name="*")
@dataclass(frozen=True, eq=False, repr=False)
class Placed(Choices, _OfWorkload):
    """The same, where threads run, and the workload's parameters."""

    placement: Annotated[
        str,
        Parameter(name="--place", help="compact, scatter, siblings, or harts such as 0-3,8"),
    ] = "compact"

    def job(self, machine: str, workload: str | Program, threads: str | Iterable[int]) -> Job:
        """The job of a command that asks for one."""
        return make_job(
            machine,
            workload,
            threads,
            parameters=pairs("--set", self.set_),
            overrides=pairs("--with", self.numbers()),
            **self.policies(),
        )


@Parameter(name="*")
@dataclass(frozen=True, eq=False, repr=False)
class Seeded(Placed):
    """The same of a run whose order of arrival is left to chance."""

    def seeds(self) -> tuple[int, ...]:
        """If the user does not say otherwise, the usual one, where the engine draws at all."""
        return self._seeds(1)

    def _seeds(self, repeats: int) -> tuple[int, ...]:
        return (
            usual_seeds(self.engine, repeats)
            if self.seed is None
            else seeds("--seed", self.seed, repeats)
        )


@Parameter(name="*")
@dataclass(frozen=True, eq=False, repr=False)
class Repeated(Seeded):
    """The same of several such runs."""

    repeat: Annotated[
        int,
        Parameter(
            validator=validators.Number(gte=1),
            help="runs of each thread count, by --seed and the numbers that follow it",
        ),
    ] = REPEATS

    def seeds(self) -> tuple[int, ...]:
        found = self._seeds(self.repeat)
        if not found and self.repeat != REPEATS:
            raise UserError(
                f"--repeat {self.repeat}: in lockstep all runs are the same; write --seed 1 for"
                " runs that differ, on an engine that draws"
            )
        return found


@Parameter(name="*")
@dataclass(frozen=True, eq=False, repr=False)
class Several(Repeated):
    """The same, each with several values: axes."""

    def each(self) -> Iterator[Repeated]:
        """One for each combination."""
        for engine_, place, home in product(
            self.engine.split(","), places(self.placement), self.home.split(",")
        ):
            chosen: Any = {"engine": engine_, "placement": place, "home": home}
            yield replace(self, **chosen)

    def jobs(
        self,
        machines: Sequence[str],
        workloads: Sequence[str | Program],
        threads: str,
    ) -> list[Job]:
        """The product of all values."""
        programs = [find_program(workload) for workload in workloads]
        numbers, parameters = axes("--with", self.numbers()), axes("--set", self.set_)
        bare = [
            make_job(machine, program, threads, overrides=overrides, **chosen.policies())
            for machine, program, chosen, overrides in product(
                machines, programs, self.each(), numbers
            )
        ]
        return [job.given(values) for job, values in product(bare, parameters)]


CHOICES, PLACED, SEEDED, REPEATED, SEVERAL = Choices(), Placed(), Seeded(), Repeated(), Several()
