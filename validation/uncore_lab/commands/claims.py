"""Commands on the claims of articles: `uncore claims`."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from uncore.cli.options import Cores, Json, workers
from uncore_lab import claims as asking


def claims(
    *ids: Annotated[str, Parameter(help="claims by name; none: all of them")],
    cores: Cores = 0,
    renew: Annotated[
        bool, Parameter(negative="", help="write what was computed into validation/results")
    ] = False,
    json: Json = False,
) -> int:
    return int(asking.main(ids, workers(cores), json=json, renew=renew))
