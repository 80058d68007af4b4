"""Options of `run` only: the files that it writes, and changes that `whatif` also tries."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from uncore.cli.options.groups import CHANGES, COMMON, OUTPUT
from uncore.cli.options.single import Csv, Json


@Parameter(name="*")
@dataclass(frozen=True)
class Outputs:
    output: Annotated[
        Path | None, Parameter(help="save the result (.json, .parquet)", group=COMMON)
    ] = None
    lines: Annotated[
        bool,
        Parameter(
            negative="",
            help="save the observations for `uncore lines` with the result",
            group=OUTPUT,
        ),
    ] = False
    log: Annotated[
        Path | None,
        Parameter(help="save every coherence transaction, as a table (.parquet)", group=OUTPUT),
    ] = None
    keep: Annotated[
        Path | None,
        Parameter(
            help="folder in which to keep the files that a Linux program has written", group=OUTPUT
        ),
    ] = None
    csv: Csv = None
    json: Json = False

    def files(self) -> dict[str, Path | None]:
        """Returns the files that it writes, by their options."""
        return {"--output": self.output, "--log": self.log, "--csv": self.csv}


@Parameter(name="*")
@dataclass(frozen=True)
class WhatIf:
    free: Annotated[
        list[str],
        Parameter(
            negative="",
            help="object named by `uncore lines` whose cache lines shall cost no time; repeatable",
            group=CHANGES,
        ),
    ] = field(default_factory=list)
    apart: Annotated[
        list[str],
        Parameter(
            negative="",
            help="A,B: fields that shall get cache lines of their own; repeatable",
            group=CHANGES,
        ),
    ] = field(default_factory=list)


OUTPUTS, WHAT_IF = Outputs(), WhatIf()
