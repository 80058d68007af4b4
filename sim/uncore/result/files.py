"""Result files: JSON for people and tools, Parquet for analysis.

`save(results, path)` writes one result or several, `load(path)` reads a file that holds one, and
`load_all(path)` reads a file with any number.  The suffix of the file decides the format.  A
Parquet file is the table of `to_polars`, with the JSON document in its metadata, from which both
formats are loaded.

Invariant: a loaded result has the hash with which it was saved; a changed file is refused.
"""

from __future__ import annotations

import io
from pathlib import Path

import msgspec

from uncore.errors import UserError
from uncore.result.schema import SCHEMA, Result, Results
from uncore.support.input_files import read_bounded
from uncore.support.output_files import write_whole
from uncore.support.output_kinds import RESULT_KEY

SEVERAL_SCHEMA = "uncore.results/1"
MAX_RESULT_BYTES = 1 << 30


class _Several(msgspec.Struct, kw_only=True):
    """The layout of a file with several results."""

    schema: str = ""
    results: list[Result] = []


class _Schema(msgspec.Struct):
    schema: str = ""


def save(results: Result | Results, path: Path) -> None:
    """Writes the results to `path`, completely or not at all."""
    listed = [*results] if isinstance(results, Results) else [results]
    several = _Several(schema=SEVERAL_SCHEMA, results=listed)
    document = msgspec.json.encode(listed[0] if len(listed) == 1 else several)
    if path.suffix == ".json":
        write_whole(path, msgspec.json.format(document, indent=1) + b"\n")
    elif path.suffix == ".parquet":
        table = io.BytesIO()
        results.to_polars().write_parquet(table, metadata={RESULT_KEY: document.decode()})
        write_whole(path, table.getvalue())
    else:
        raise UserError(f"{path}: expected a name ending in .json or .parquet")


def load(path: Path) -> Result:
    """Reads a file that must hold a single result."""
    results = load_all(path)
    if len(results) != 1:
        names = "; ".join(f"{result!r}"[1:].partition(",")[0] for result in results)
        raise UserError(
            f"{path}: it holds {len(results)} results, and one is needed here: {names}. Run one"
            " workload on one machine with --output"
        )
    return results[0]


def load_all(path: Path) -> Results:
    """Reads a file with one result or several."""
    try:
        document = _document(path)
        if msgspec.json.decode(document, type=_Schema).schema == SEVERAL_SCHEMA:
            results = msgspec.json.decode(document, type=_Several).results
        else:
            results = [msgspec.json.decode(document, type=Result)]
    except OSError as error:
        raise UserError(f"{path}: cannot read the result: {error.strerror}") from None
    except (msgspec.MsgspecError, ValueError) as error:
        raise UserError(f"{path}: not a result of uncore: {error}") from None
    for result in results:
        _check(result, path)
    return Results(results)


def _check(result: Result, path: Path) -> None:
    if result.schema != SCHEMA:
        raise UserError(f"{path}: its schema is '{result.schema}'; this version reads '{SCHEMA}'")
    if result.result_hash != result.computed_hash():
        raise UserError(
            f"{path}: its job or outcome was changed after it was saved (the hash differs)"
        )


def _document(path: Path) -> bytes:
    if path.suffix != ".parquet":
        return read_bounded(path, MAX_RESULT_BYTES)
    import polars  # noqa: PLC0415 (slow to load)

    file = io.BytesIO(read_bounded(path, MAX_RESULT_BYTES))
    try:
        return polars.read_parquet_metadata(file)[RESULT_KEY].encode()
    except (polars.exceptions.PolarsError, KeyError):
        raise ValueError(f"no '{RESULT_KEY}' in its metadata") from None
