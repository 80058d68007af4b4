"""Options that several commands share, each worded once, and what they mean.

Threads ...            one option each
Choices, Placed        what every command that simulates lets the user choose
workers, note          how many processes `--cores N` means; saying where something was written
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter, validators

from uncore.api import make_job
from uncore.job import Job
from uncore.words import duration, pairs

Threads = Annotated[str, Parameter(help="thread counts: 1,2,4..128 (4..128 doubles), or max")]
Set = Annotated[
    list[str], Parameter(name="--set", negative="", help="NAME=VALUE: a workload's parameter")
]
With = Annotated[
    list[str], Parameter(name="--with", negative="", help="KEY=VALUE: a number of the machine")
]
Json = Annotated[bool, Parameter(name="--json", negative="", help="rows as JSON, keys documented")]
Plot = Annotated[Path | None, Parameter(help="draw into this file (.png, .svg, .pdf)")]
Cores = Annotated[
    int,
    Parameter(validator=validators.Number(gte=0), help="cores of this host to use; 0: all of them"),
]


@Parameter(name="*")
@dataclass(frozen=True)
class Choices:
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
    sst: Annotated[
        str | None, Parameter(help="where SST is (its prefix); else UNCORE_SST, PATH")
    ] = None
    sst_threads: Annotated[
        int | None,
        Parameter(validator=validators.Number(gte=1), help="threads of one process of SST"),
    ] = None
    sst_ranks: Annotated[
        int | None,
        Parameter(validator=validators.Number(gte=1), help="processes of SST (MPI)"),
    ] = None
    sst_mesh: Annotated[
        str | None, Parameter(help="whose routers a mesh has in SST: merlin or kingsley")
    ] = None
    gem5: Annotated[
        str | None, Parameter(help="where gem5 is (its program); else UNCORE_GEM5, PATH")
    ] = None

    def policies(self) -> dict[str, Any]:
        """As fields of a Job; what only says how to run an engine goes where the engine looks."""
        fields = asdict(self)
        for name in ("sst", "sst_threads", "sst_ranks", "sst_mesh", "gem5"):
            if (said := fields.pop(name)) is not None:
                os.environ[f"UNCORE_{name.upper()}"] = str(said)
        watchdog = duration("--watchdog", self.watchdog)
        return {**fields, "smt": self.smt == "on", "watchdog": watchdog}

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
            overrides=pairs("--with", with_),
            **self.policies(),
        )


@Parameter(name="*")
@dataclass(frozen=True)
class Placed(Choices):
    """The same, and where threads run."""

    placement: Annotated[
        str,
        Parameter(name="--place", help="compact, scatter, siblings, or harts such as 0-3,8"),
    ] = "compact"


CHOICES, PLACED = Choices(), Placed()


def workers(cores: int) -> int:
    """How many processes `--cores N` means."""
    return cores or os.cpu_count() or 1


def note(text: str) -> None:
    """Says where something was written, without disturbing what is piped."""
    print(text, file=sys.stderr)
