"""The transaction log (section L of docs/model.md) as a table, whichever engine wrote it.

    frame(columns)            a polars table of one run; `columns` is any mapping with L9's names
    save([(4, log), ...], path)   the points of a job, one after the other, as Parquet
    load(path)                what was saved

Invariant: two engines that agree on a job give equal frames (`frame.equals`).
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import polars

from uncore.errors import UserError
from uncore.files import write_whole

NUMBER, TEXT = polars.Int64, polars.String
COLUMNS = {
    "id": NUMBER,
    "requester": NUMBER,
    "number": NUMBER,
    "resolver": NUMBER,
    "line": NUMBER,
    "op": TEXT,
    "owner": NUMBER,
    "source": NUMBER,
    "right": TEXT,
    "probes": NUMBER,
    "request": NUMBER,
    "open": NUMBER,
    "probe": NUMBER,
    "data": NUMBER,
    "close": NUMBER,
}
ORDER = ["request", "requester", "number"]  # L8


def frame(columns: Mapping[str, Any]) -> polars.DataFrame:
    """The log of one run, from its records in any order; `id` follows from the order."""
    given = {name: kind for name, kind in COLUMNS.items() if name != "id"}
    table = polars.DataFrame({name: columns[name] for name in given}, schema=given)
    numbered = table.sort(ORDER).with_row_index("id")
    return numbered.cast({"id": NUMBER})


def save(points: Iterable[tuple[int, polars.DataFrame]], path: Path) -> None:
    """Writes the logs of a job's points, by their thread counts."""
    threads = [log.select(polars.lit(n, NUMBER).alias("threads"), "*") for n, log in points]
    table = io.BytesIO()
    polars.concat(threads).write_parquet(table)
    write_whole(path, table.getvalue())


def load(path: Path) -> polars.DataFrame:
    """Reads what `save` wrote."""
    try:
        return polars.read_parquet(path, schema={"threads": NUMBER, **COLUMNS})
    except (OSError, polars.exceptions.PolarsError) as error:
        raise UserError(f"{path}: not a transaction log of uncore: {error}") from None
