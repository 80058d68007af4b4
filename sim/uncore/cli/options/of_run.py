"""Options of `run` alone: what the program would cost otherwise."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from cyclopts import Parameter

from uncore.cli.options.groups import panel
from uncore.job.schema import Group


@Parameter(name="*")
@dataclass(frozen=True)
class WhatIf:
    free: Annotated[
        list[str],
        Parameter(
            negative="",
            help="objects of `uncore lines` whose lines cost nothing",
            group=panel(Group.PROGRAM),
        ),
    ] = field(default_factory=list)
    apart: Annotated[
        list[str],
        Parameter(
            negative="",
            help="fields, A,B, that get lines of their own",
            group=panel(Group.PROGRAM),
        ),
    ] = field(default_factory=list)


WHAT_IF = WhatIf()
