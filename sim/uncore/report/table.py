"""Tables: the same rows for people (rich, on a terminal or piped) and for programs (JSON).

Interface: `emit(rows, as_json, columns, title)`; `cells(rows, columns)` for a table that is
written elsewhere; `print_json(value)` for what is not a table.
The keys of the rows are the documented, stable ones (docs/cli.md); `columns` says which of them
people see, and how.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from uncore.report.units import EMPTY

Row = Mapping[str, Any]


class Column(NamedTuple):
    """One column people see: its head, key or function of the row, and how a value is written."""

    head: str
    value: str | Callable[[Row], Any]
    write: Callable[[Any], str] = lambda v: EMPTY if v is None else str(v)
    left: bool = False


def print_json(value: Any) -> None:
    """A structure as indented JSON on standard output."""
    print(msgspec.json.format(msgspec.json.encode(value), indent=1).decode())


def emit(rows: Sequence[Row], as_json: bool, columns: Sequence[Column], title: str = "") -> None:
    """Prints the rows on standard output; a column in which nothing is known is left out."""
    if as_json:
        print_json(rows)
        return
    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False)
    shown, lines = cells(rows, columns)
    for column in shown:
        table.add_column(
            column.head,
            justify="left" if column.left else "right",
            overflow="fold",
            no_wrap=not column.left,
        )
    for line in lines:
        table.add_row(*map(escape, line))
    if title:
        console().print(title, style="bold", markup=False)
    console().print(table)
    console().print()


def console() -> Console:
    """Standard output; piped, lines are as long as they need to be."""
    out = Console(highlight=False)
    return out if out.is_terminal else Console(highlight=False, width=200)


def cells(rows: Sequence[Row], columns: Sequence[Column]) -> tuple[list[Column], list[list[str]]]:
    """The columns in which something is known, and every row as it is written."""
    shown = [column for column in columns if any(_cell(column, row) != EMPTY for row in rows)]
    return shown, [[_cell(column, row) for column in shown] for row in rows]


def _cell(column: Column, row: Row) -> str:
    value = column.value(row) if callable(column.value) else row.get(column.value)
    return column.write(value)
