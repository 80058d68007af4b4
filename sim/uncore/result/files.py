"""Result files: JSON for people and tools, Parquet for analysis.

Interface: `save(result, path)` and `load(path)`, by the name's ending.  A Parquet file is the table
of `Result.to_polars`, with the whole result as JSON in its metadata, so both load alike.
Invariant: what is loaded has the hash it was saved with; a changed file is refused.
"""

from __future__ import annotations

import io
from pathlib import Path

import msgspec

from uncore.errors import UserError
from uncore.files import write_whole
from uncore.result.schema import SCHEMA, Result

KEY = "uncore.result"  # the entry of a Parquet file's metadata


def save(result: Result, path: Path) -> None:
    """Writes `path` whole or not at all."""
    document = msgspec.json.encode(result)
    if path.suffix == ".json":
        write_whole(path, msgspec.json.format(document, indent=1) + b"\n")
    elif path.suffix == ".parquet":
        table = io.BytesIO()
        result.to_polars().write_parquet(table, metadata={KEY: document.decode()})
        write_whole(path, table.getvalue())
    else:
        raise UserError(f"{path}: expected a name ending in .json or .parquet")


def load(path: Path) -> Result:
    """Reads a result of either kind."""
    try:
        result = msgspec.json.decode(_document(path), type=Result)
    except OSError as error:
        raise UserError(f"{path}: cannot read the result: {error.strerror}") from None
    except (msgspec.MsgspecError, ValueError) as error:
        raise UserError(f"{path}: not a result of uncore: {error}") from None
    if result.schema != SCHEMA:
        raise UserError(f"{path}: its schema is '{result.schema}'; this version reads '{SCHEMA}'")
    if result.result_hash != result.computed_hash():
        raise UserError(
            f"{path}: its job or outcome was changed after it was saved (the hash differs)"
        )
    return result


def _document(path: Path) -> bytes:
    if path.suffix != ".parquet":
        return path.read_bytes()
    import polars  # noqa: PLC0415 (slow to load)

    try:
        return polars.read_parquet_metadata(path)[KEY].encode()
    except (polars.exceptions.PolarsError, KeyError):
        raise ValueError(f"no '{KEY}' in its metadata") from None
