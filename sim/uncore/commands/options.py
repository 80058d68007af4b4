"""Options that several commands share, each worded once, and what they mean.

Threads ...            one option each
Engines                how a run is executed: of every command that executes one
Choices, Placed        what every command that simulates lets the user choose
Seeded, Repeated       of commands for which it matters who comes first: they leave that to chance
Several, Chart         of those that take several values of each, and draw what differs
workers                how many processes `--cores N` means
at_work                the same, or the workers of `--cluster ADDRESS`
note                   saying where something was written
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, make_dataclass, replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, get_type_hints

from cyclopts import Parameter, validators
from msgspec import Struct

from uncore import engine
from uncore.api import REPEATS, find_program, make_job, usual_seeds
from uncore.engine.limits import Limits
from uncore.errors import UserError
from uncore.job import Job
from uncore.plain import plain
from uncore.pool import Workers
from uncore.program import Program, read_folder
from uncore.report.wanted import Wanted, figure
from uncore.words import axes, duration, pairs, places, seeds

Threads = Annotated[str, Parameter(help="thread counts: 1,2,4..128 (4..128 doubles), or max")]
Set = Annotated[
    list[str], Parameter(name="--set", negative="", help="NAME=VALUE: a workload's parameter")
]
With = Annotated[
    list[str], Parameter(name="--with", negative="", help="KEY=VALUE: a number of the machine")
]
Json = Annotated[bool, Parameter(name="--json", negative="", help="rows as JSON, keys documented")]
Plot = Annotated[Path | None, Parameter(help="draw into this file (.png, .svg, .pdf, .html)")]
Report = Annotated[
    Path | None, Parameter(help="all of it as one page to send, with the reasons (.html)")
]
Cores = Annotated[
    int,
    Parameter(validator=validators.Number(gte=0), help="cores of this host to use; 0: all of them"),
]
Cluster = Annotated[
    str,
    Parameter(help="run points on a Dask cluster: its scheduler's address, or local (--cores)"),
]
Samples = Annotated[
    int,
    Parameter(
        validator=validators.Number(gte=0),
        help="machines drawn, where a file's numbers have intervals, for an interval of throughput",
    ),
]
Resume = Annotated[
    bool,
    Parameter(negative="", help="take up points that were finished before, by an interrupted run"),
]


POLICIES = {"home", "slices", "engine", "slow", "placement"}  # said as a Job has them


@dataclass(frozen=True)
class _Choices:
    """What every command that simulates lets the user choose."""

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

    def numbers(self, with_: Sequence[str]) -> list[str]:
        """Of the machine, as --with says them."""
        return [*with_, *([f"core.order={self.order}"] if self.order else [])]

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

    def job(
        self,
        machine: str,
        workload: str,
        threads: str | Iterable[int],
        set_: Sequence[str],
        with_: Sequence[str],
    ) -> Job:
        """The job of a command that asks for one."""
        return make_job(
            machine,
            workload,
            threads,
            parameters=pairs("--set", set_),
            overrides=pairs("--with", self.numbers(with_)),
            **self.policies(),
        )


def _declared(kind: type[Struct] | None) -> Iterator[tuple[str, Any, None]]:
    """What engines can be told, as fields that are options of the command line."""
    for option, hint in get_type_hints(kind, include_extras=True).items():
        (meta,) = hint.__metadata__
        if hint.__origin__ is int:
            number = Parameter(help=meta.description, validator=validators.Number(gte=meta.ge))
            yield option, Annotated[int | None, number], None
        else:
            yield option, Annotated[str | None, Parameter(help=meta.description)], None


_KINDS = (Limits, *map(engine.options, engine.OPTIONS))
_OF_ENGINES = [told for kind in _KINDS for told in _declared(kind)]
TOLD = frozenset(option for option, _, _ in _OF_ENGINES)

_Declared: Any = make_dataclass("_Declared", _OF_ENGINES, frozen=True)


@Parameter(name="*")
@dataclass(frozen=True)
class Engines(_Declared if not TYPE_CHECKING else object):  # type: ignore[misc]
    """How engines are run, as each declares it (`uncore.engine.OPTIONS`), and limits: of every
    command that executes a run, as new as it may be."""

    def told(self) -> dict[str, Any]:
        said = {name: getattr(self, name) for name in TOLD}
        return {name: value for name, value in said.items() if value is not None}

    def untold(self) -> Self:
        """The same without."""
        return replace(self, **dict.fromkeys(TOLD))


@Parameter(name="*")
@dataclass(frozen=True)
class Choices(Engines, _Choices):
    """Both."""


@Parameter(name="*")
@dataclass(frozen=True)
class Placed(Choices):
    """The same, and where threads run."""

    placement: Annotated[
        str,
        Parameter(name="--place", help="compact, scatter, siblings, or harts such as 0-3,8"),
    ] = "compact"


@Parameter(name="*")
@dataclass(frozen=True)
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
@dataclass(frozen=True)
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
@dataclass(frozen=True)
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
        set_: Sequence[str],
        with_: Sequence[str],
    ) -> list[Job]:
        """The product of all values."""
        programs = [find_program(workload) for workload in workloads]
        numbers, parameters = axes("--with", self.numbers(with_)), axes("--set", set_)
        bare = [
            make_job(machine, program, threads, overrides=overrides, **chosen.policies())
            for machine, program, chosen, overrides in product(
                machines, programs, self.each(), numbers
            )
        ]
        return [job.given(values) for job, values in product(bare, parameters)]


@Parameter(name="*")
@dataclass(frozen=True)
class Chart:
    """What is drawn over what."""

    plot: Plot = None
    x: Annotated[
        str, Parameter(help="of the picture: threads, or an option with several values")
    ] = ""
    y: Annotated[
        str, Parameter(help="figures drawn: some of throughput,p50,p90,p99,max,fairness")
    ] = "throughput"
    heat: Annotated[str, Parameter(help="KEY,KEY: a value for each pair of these, by colour")] = ""
    facet: Annotated[str, Parameter(help="a panel for each value of this option")] = ""
    report: Report = None

    def wanted(self) -> Wanted:
        heat = tuple(self.heat.split(",")) if self.heat else None
        if heat and len(heat) != 2:
            raise UserError(
                f"--heat {self.heat}: expected two options, such as --heat hold,threads"
            )
        for name in self.y.split(","):
            figure(name)
        if replace(self, report=None) != Chart() and not self.plot:
            raise UserError("--x, --y, --heat and --facet say how to draw: write --plot FILE, too")
        return Wanted(self.x, self.y.split(","), heat, self.facet)  # type: ignore[arg-type]


@Parameter(name="*")
@dataclass(frozen=True)
class WhatIf:
    """What the program would cost otherwise."""

    free: Annotated[
        list[str], Parameter(negative="", help="objects of `uncore lines` whose lines cost nothing")
    ] = field(default_factory=list)
    apart: Annotated[
        list[str], Parameter(negative="", help="fields, A,B, that get lines of their own")
    ] = field(default_factory=list)


@Parameter(name="*")
@dataclass(frozen=True)
class Whole:
    """A run that is saved whole, or one that was."""

    save_at: Annotated[
        str | None, Parameter(help="save the run itself when it is there: begin, or a time: 20us")
    ] = None
    state: Annotated[Path | None, Parameter(help="file of --save-at")] = None
    from_: Annotated[
        Path | None, Parameter(name="--from", help="go on with a saved run; --set changes it")
    ] = None


@Parameter(name="*")
@dataclass(frozen=True)
class OnLinux:
    """A program of Linux: how it is compiled, and what it finds."""

    argument: Annotated[
        list[str],
        Parameter(negative="", help="a word for the program; those behind -- are, too"),
    ] = field(default_factory=list)
    files: Annotated[
        Path | None, Parameter(help="folder that the program finds as /files, read-only")
    ] = None
    os: Annotated[
        Literal["machine", "free"],
        Parameter(help="what the system costs: what the machine says, or nothing"),
    ] = "machine"
    strace: Annotated[bool, Parameter(negative="", help="print the program's system calls")] = False
    source: Annotated[
        list[Path], Parameter(negative="", help="a further file of the program's, compiled with it")
    ] = field(default_factory=list)
    cflags: Annotated[str, Parameter(help="words for its compiler")] = ""
    include: Annotated[list[Path], Parameter(negative="", help="folder of its headers")] = field(
        default_factory=list
    )

    def of_job(self, job: Job) -> Job:
        """The same with what it finds."""
        if self == ON_LINUX:
            return job
        files = read_folder(self.files) if self.files else ()
        return replace(job, arguments=tuple(self.argument), files=files, system=self.os)

    def program(self, workload: str) -> Program:
        flags = (*shlex.split(self.cflags), *(f"-I{folder.resolve()}" for folder in self.include))
        return find_program(workload, tuple(self.source), flags)


CHOICES, PLACED, SEEDED, REPEATED = Choices(), Placed(), Seeded(), Repeated()
ENGINES = Engines()
SEVERAL, CHART = Several(), Chart()
WHAT_IF, WHOLE, ON_LINUX = WhatIf(), Whole(), OnLinux()


def workers(cores: int) -> int:
    """How many processes `--cores N` means; all are those that this process may use."""
    return cores or len(os.sched_getaffinity(0))


@contextmanager
def at_work(cores: int, cluster: str) -> Iterator[Workers]:
    """Who runs points; those of a cluster are let go when the block ends."""
    if not cluster:
        yield workers(cores)
        return
    try:
        from uncore.cluster import connected  # noqa: PLC0415 (slow to load)
    except ImportError as error:
        raise UserError(
            f"--cluster {cluster}: needs the package {error.name}, which is not installed; write:"
            " pip install 'uncore[cluster]'"
        ) from None
    with connected(cluster, workers(cores)) as found:
        yield found


def note(text: str) -> None:
    """Says where something was written, without disturbing what is piped."""
    print(plain(text), file=sys.stderr)


def command() -> str:
    """The words that this process was called with, to be copied."""
    return shlex.join(["uncore", *sys.argv[1:]])
