"""What articles claim: claims."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from uncore.cli.options import Cores, Json, workers
from uncore_lab import claims as asking


def claims(
    *ids: Annotated[str, Parameter(help="claims by name; none: all of them")],
    cores: Cores = 0,
    page: Annotated[Path | None, Parameter(help="write docs/claims.md into this file")] = None,
    json: Json = False,
) -> int:
    return int(asking.main(ids, workers(cores), json=json, page=page))
