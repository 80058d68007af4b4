"""Prints tables: the same rows as text for people (by rich) and as JSON for programs.

`emit(rows, as_json, columns, title)` prints a table; `cells(rows, columns)` returns its texts;
`say(text)` prints text around tables; `print_json(value)` prints other values.  The keys of the
rows are documented and stable (docs/cli.md); `columns` says which of them people see, in which
form, and what they mean: `--help` and the site show `about`.

Invariant: no line has trailing blanks; table_layout.py decides which columns are side by side.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.segment import Segment, Segments
from rich.table import Table

from uncore.drawing.formats import EMPTY
from uncore.drawing.table_layout import Block, laid_out
from uncore.drawing.width import text_width, wide
from uncore.support.printable import plain, plain_json

Row = Mapping[str, Any]


class Column(NamedTuple):
    """A printed column: its head, the key or function that returns its value, and the function that
    formats the value.
    """

    head: str
    value: str | Callable[[Row], Any]
    write: Callable[[Any], str] = lambda v: EMPTY if v is None else str(v)
    left: bool = False
    about: str = ""  # description, for --help
    # title of a block of columns below the other columns, which all columns of the group form
    group: str = ""
    # True: the column identifies the row, so it is in every block. If no column is a key, the first
    # column is.
    key: bool = False
    minor: bool = False  # True: left out if the table is too wide


def print_json(value: Any) -> None:
    """Prints a structure as indented JSON on standard output."""
    print(plain_json(msgspec.json.format(msgspec.json.encode(value), indent=1).decode()))


def emit(rows: Sequence[Row], as_json: bool, columns: Sequence[Column], title: str = "") -> None:
    """Prints the rows on standard output. Leaves out columns without any known value."""
    if as_json:
        print_json(rows)
        return
    out = console()
    shown, lines = cells(rows, columns)
    if wide.get():
        shown = [c._replace(head=f"{c.group} {c.head}".strip()) for c in shown]
    layout = laid_out(shown, lines, out.width, wide.get())
    if title:
        say(title, "bold")
    for block in layout.blocks:
        if block.group:
            say(block.group, "bold")
        _print(out, _table(block, shown, lines))
        out.print()
    if layout.left_out:
        say(f"not shown: {', '.join(shown[n].head for n in layout.left_out)} (--wide)\n", "dim")


def say(text: str, style: str = "") -> None:
    """Prints text on standard output. Lines that are too long are folded between words."""
    out = console()
    folded = "\n".join(_folded(line, out.width) for line in plain(text).split("\n"))
    out.print(folded, style=style, markup=False, soft_wrap=True)


def _folded(line: str, width: int) -> str:
    """Folds a line between words. If it begins with blanks, the continuation lines are indented by
    two more blanks.
    """
    blanks = len(line) - len(line.lstrip())
    below = " " * (blanks + 2 if blanks else 0)
    return textwrap.fill(
        line, width, subsequent_indent=below, break_long_words=False, break_on_hyphens=False
    )


def console() -> Console:
    """Returns a console that writes to standard output, with the width to use."""
    out = Console(highlight=False, force_jupyter=False)
    return Console(
        highlight=False, force_jupyter=False, width=text_width(out.width if out.is_terminal else 0)
    )


def _table(block: Block, columns: Sequence[Column], lines: Sequence[Sequence[str]]) -> Table:
    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    for placed in block.placed:
        column = columns[placed.index]
        table.add_column(
            column.head,
            justify="left" if column.left else "right",
            width=placed.width,
            overflow="fold",
        )
    for line in lines:
        table.add_row(*(escape(line[placed.index]) for placed in block.placed))
    return table


def _print(out: Console, table: Table) -> None:
    """Prints a table at its full width, without blanks at the ends of lines."""
    width = table.__rich_measure__(out, out.options.update(width=10**6)).maximum
    for line in out.render_lines(table, out.options.update(width=width), pad=False):
        out.print(
            Segments([*_without_trailing_blanks(line), Segment.line()]), soft_wrap=True, end=""
        )


def _without_trailing_blanks(line: Sequence[Segment]) -> list[Segment]:
    segments = list(line)
    while segments and not segments[-1].text.rstrip():
        segments.pop()
    if segments:
        segments[-1] = segments[-1]._replace(text=segments[-1].text.rstrip())
    return segments


def cells(rows: Sequence[Row], columns: Sequence[Column]) -> tuple[list[Column], list[list[str]]]:
    """Returns the columns that have a known value in any row, and the texts of all rows."""
    shown = [column for column in columns if any(_cell(column, row) != EMPTY for row in rows)]
    return shown, [[_cell(column, row) for column in shown] for row in rows]


def _cell(column: Column, row: Row) -> str:
    value = column.value(row) if callable(column.value) else row.get(column.value)
    return plain(column.write(value))
