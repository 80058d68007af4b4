"""The command `uncore claims`, which checks statements of articles."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from uncore.cli.options import Cores, Json, workers
from uncore.errors import UserError
from uncore_lab import claims as asking


def claims(
    *ids: Annotated[str, Parameter(help="names of claims; default: all")],
    cores: Cores = 0,
    renew: Annotated[
        bool, Parameter(negative="", help="write the answers into validation/results")
    ] = False,
    rows: Annotated[
        bool,
        Parameter(
            negative="",
            help="print everything that the articles name, with the verdicts on file; runs nothing",
        ),
    ] = False,
    json: Json = False,
) -> int:
    if rows:
        if ids or renew:
            raise UserError("--rows prints the whole table on file: leave the other words out")
        asking.print_subjects(json=json)
        return 0
    return int(asking.main(ids, workers(cores), json=json, renew=renew))
