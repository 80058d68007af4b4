"""Options that stand alone, each worded once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter, validators

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
