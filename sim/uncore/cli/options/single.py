"""Options that belong to no group."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter, validators

from uncore.cli.options.groups import COMMON, HERE, OUTPUT, SAVED, panel
from uncore.cli.options.of_job import parameter
from uncore.job.schema import Group

Machine = Annotated[str, Parameter(help="a name, a shape such as ccx:2x4, or a .toml file")]
Workload = Annotated[str, Parameter(help="a name, a .c or an .elf file")]
Threads = Annotated[
    str,
    Parameter(help="thread counts: 1,2,4..128 (4..128 doubles), or max", group=COMMON),
]
Set = Annotated[list[str], parameter("parameters")]
With = Annotated[list[str], parameter("overrides")]
Json = Annotated[
    bool,
    Parameter(
        name="--json",
        negative="",
        help="print the rows as JSON; docs/cli.md explains the keys",
        group=OUTPUT,
    ),
]
Plot = Annotated[
    Path | None,
    Parameter(help="draw a picture into this file (.png, .svg, .pdf, .html)", group=COMMON),
]
Report = Annotated[
    Path | None,
    Parameter(
        help="write results, pictures and explanations as one self-contained page (.html)",
        group=COMMON,
    ),
]
Csv = Annotated[
    Path | None,
    Parameter(name="--csv", help="write the rows of --json as a table (.csv)", group=OUTPUT),
]
Cores = Annotated[
    int,
    Parameter(
        validator=validators.Number(gte=0),
        help="number of cores of this host to use; 0: all",
        group=HERE,
    ),
]
Cluster = Annotated[
    str,
    Parameter(
        help="run points on a Dask cluster: its scheduler's address, or local for a cluster of"
        " --cores processes here",
        group=HERE,
    ),
]
Samples = Annotated[
    int,
    Parameter(
        validator=validators.Number(gte=0),
        help="number of machines drawn from the intervals in a machine's file, to give an"
        " interval of throughput",
        group=panel(Group.CHANCE),
    ),
]
Resume = Annotated[
    bool,
    Parameter(
        negative="",
        help="reuse the points that an interrupted run has finished",
        group=SAVED,
    ),
]
