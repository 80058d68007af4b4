"""Writes a trace to a file: one table (Parquet), or a trace for Perfetto.

    save(trace, path)       the suffix of the path chooses the format: .parquet or .pftrace

Each row of the table is an event, in the order of time. Its column `table` says which kind of event
it is; columns that this kind does not have are null.
"""

from __future__ import annotations

import io
from pathlib import Path

from uncore.support.output_files import write_whole
from uncore.support.output_kinds import TRACE_KEY
from uncore.trace import perfetto
from uncore.trace.named_tables import TIME_COLUMNS
from uncore.trace.record import Trace


def save(trace: Trace, path: Path) -> None:
    write_whole(path, perfetto.trace(trace) if path.suffix == ".pftrace" else table(trace))


def table(trace: Trace) -> bytes:
    import polars  # noqa: PLC0415 (slow to load)

    parts = []
    for name, time_column in TIME_COLUMNS.items():
        events = trace.tables[name]
        kind = polars.lit(name).alias("table")
        parts.append(events.select(polars.col(time_column).alias("time"), kind, polars.all()))
    start = polars.lit(trace.window.start).cast(polars.Int64).alias("time")
    held = trace.tables["held"].select(start, polars.lit("held").alias("table"), polars.all())
    rows = polars.concat([held, *parts], how="diagonal_relaxed")
    written = io.BytesIO()
    rows.sort("time", maintain_order=True).write_parquet(
        written, compression="zstd", metadata={TRACE_KEY: "1"}
    )
    return written.getvalue()
