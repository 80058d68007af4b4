"""A file of validation/results: CSV, one figure in each row.

    Table(name, keys, rows)     rows of one shape; `keys` are the columns that identify a row
    save(table)                 writes the whole file
    load(name) -> rows          the rows of a file, as text
    differences(table, whole)   sentences about figures that differ from those on file

Invariant: a number on file has five digits, so that a file is the same on every host.  A figure has
changed if it differs by more than rounding.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isclose
from pathlib import Path

from uncore.drawing.table import Row
from uncore.errors import UserError
from uncore.support.output_files import write_whole
from uncore.support.paths import CHECKOUT

FOLDER = (CHECKOUT or Path()) / "validation/results"
# relative tolerance, because the last digit may differ from host to host
SIGNIFICANT_DIGITS, RELATIVE_TOLERANCE = 5, 2e-4
# absolute tolerance for errors in per cent, which have two decimals on file
ERROR_TOLERANCE_PCT = 0.011

Line = dict[str, str]
Key = tuple[str, ...]


@dataclass(frozen=True)
class Table:
    name: str
    keys: Sequence[str]
    rows: Sequence[Row]

    @property
    def lines(self) -> dict[Key, Line]:
        """The rows as text, in the form in which they are written to file, by their keys."""
        lines = [{column: _text(value) for column, value in row.items()} for row in self.rows]
        return {tuple(line[key] for key in self.keys): line for line in lines}


def path_of(name: str) -> Path:
    return FOLDER / f"{name}.csv"


def load(name: str) -> list[Line]:
    try:
        with path_of(name).open(newline="") as file:
            return list(csv.DictReader(file))
    except OSError as error:
        raise UserError(
            f"{path_of(name)}: cannot be read: {error.strerror}; results are part of a checkout"
        ) from None


def save(table: Table) -> None:
    if not CHECKOUT:
        raise UserError("--renew: expected a checkout, of which validation/results is a part")
    lines = list(table.lines.values())
    text = io.StringIO()
    writer = csv.DictWriter(text, lines[0], lineterminator="\n")
    writer.writeheader()
    writer.writerows(lines)
    write_whole(path_of(table.name), text.getvalue())


def differences(table: Table, *, whole: bool = False) -> list[str]:
    """Returns sentences about figures that differ from those on file. With `whole`, the table is
    complete, and there are also sentences about rows on file that it lacks.
    """
    filed = {tuple(line[key] for key in table.keys): line for line in load(table.name)}
    computed = table.lines
    messages = [
        message
        for key, line in computed.items()
        for message in _differences_of_row(filed.get(key), key, line)
    ]
    if whole:
        messages += [f"{' '.join(key)}: no longer computed" for key in filed if key not in computed]
    return [f"{table.name}.csv: {message}" for message in messages]


def _differences_of_row(filed: Line | None, key: Key, line: Line) -> Iterator[str]:
    if filed is None:
        yield f"{' '.join(key)}: not on file"
        return
    for column, text in line.items():
        filed_text = filed.get(column, "")
        if not _equal_as_written(text, filed_text):
            yield f"{' '.join(key)}: {column} {text or 'empty'}, on file {filed_text or 'empty'}"


def _equal_as_written(text: str, other_text: str) -> bool:
    try:
        return isclose(
            float(text), float(other_text), rel_tol=RELATIVE_TOLERANCE, abs_tol=ERROR_TOLERANCE_PCT
        )
    except ValueError:
        return text == other_text


def _text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        text = f"{value:.{SIGNIFICANT_DIGITS}g}"
        return text if "e" not in text else f"{value:.0f}" if abs(value) > 1 else f"{value:.6f}"
    return str(value)
