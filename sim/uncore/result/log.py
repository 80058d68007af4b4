"""The transaction log (section L of docs/model.md) as a table, the same for every engine.

    frame(columns)      a polars table of one run; `columns` maps the names of L9 to values
    save(points, path)  writes a Parquet file; `points` has (threads, seed, log) of each point
    load(path)          reads such a file

Invariant: two engines that agree on a job give equal frames (`frame.equals`).
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import polars

from uncore.errors import UserError
from uncore.support.input_files import read_bounded
from uncore.support.output_files import write_whole
from uncore.support.output_kinds import LOG_KEY

NUMBER, TEXT = polars.Int64, polars.String
LOG_COLUMNS = {
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
LOG_ORDER = ["request", "requester", "number"]  # order of rows (L8)
MAX_LOG_BYTES, MAX_LOG_ROWS = 1 << 30, 1 << 24  # a row is 120 bytes in memory


def frame(columns: Mapping[str, Any]) -> polars.DataFrame:
    """Returns the log of one run, sorted, from records in any order; `id` numbers the rows."""
    columns_given = {name: kind for name, kind in LOG_COLUMNS.items() if name != "id"}
    table = polars.DataFrame({name: columns[name] for name in columns_given}, schema=columns_given)
    numbered = table.sort(LOG_ORDER).with_row_index("id")
    return numbered.cast({"id": NUMBER})


def save(points: Iterable[tuple[int, int | None, polars.DataFrame]], path: Path) -> None:
    """Writes the logs of a job's points, with their thread counts, and their seeds if there are
    any.
    """
    table = io.BytesIO()
    polars.concat([_with_run_columns(*point) for point in points]).write_parquet(
        table, metadata={LOG_KEY: "1"}
    )
    write_whole(path, table.getvalue())


def _with_run_columns(threads: int, seed: int | None, log: polars.DataFrame) -> polars.DataFrame:
    names = {"threads": threads} | ({} if seed is None else {"seed": seed})
    return log.select(*(polars.lit(n, NUMBER).alias(name) for name, n in names.items()), "*")


def load(path: Path) -> polars.DataFrame:
    """Reads a file written by `save`; refuses files that are too large."""
    try:
        file = io.BytesIO(read_bounded(path, MAX_LOG_BYTES))
        names = [name for name in ("threads", "seed") if name in polars.read_parquet_schema(file)]
        rows = polars.scan_parquet(file).select(polars.len()).collect().item()
        if rows > MAX_LOG_ROWS:
            raise UserError(
                f"{path}: {rows} transactions; {MAX_LOG_ROWS} are the most that are read"
            )
        return polars.read_parquet(file, schema={**dict.fromkeys(names, NUMBER), **LOG_COLUMNS})
    except (OSError, polars.exceptions.PolarsError) as error:
        raise UserError(f"{path}: not a transaction log of uncore: {error}") from None
