"""Tables: the same rows for people (rich, on a terminal or piped) and for programs (JSON).

Interface: `emit(rows, as_json, columns, title)`; `cells(rows, columns)` for a table that is
written elsewhere; `say(text)` for what stands around tables; `print_json(value)` for what is no
table.  The keys of the rows are the documented, stable ones (docs/cli.md); `columns` says which of
them people see, how, and what they mean: `--help` and the site explain them by `about`.
Invariant: no line has trailing blanks; layout.py says what stands beside what.
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
from uncore.drawing.width import room, wide
from uncore.support.printable import plain, plain_json

Row = Mapping[str, Any]


class Column(NamedTuple):
    """One column people see: its head, key or function of the row, and how a value is written."""

    head: str
    value: str | Callable[[Row], Any]
    write: Callable[[Any], str] = lambda v: EMPTY if v is None else str(v)
    left: bool = False
    about: str = ""  # description, for --help
    group: str = ""  # title: columns with the same one stand together, below the others
    key: bool = False  # says which row it is, in every block; if none does, the first one
    minor: bool = False  # left out where it does not fit


def print_json(value: Any) -> None:
    """A structure as indented JSON on standard output."""
    print(plain_json(msgspec.json.format(msgspec.json.encode(value), indent=1).decode()))


def emit(rows: Sequence[Row], as_json: bool, columns: Sequence[Column], title: str = "") -> None:
    """Prints the rows on standard output; a column in which nothing is known is left out."""
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
    """A line of text on standard output, folded between words where it is longer than the room."""
    out = console()
    folded = "\n".join(_folded(line, out.width) for line in plain(text).split("\n"))
    out.print(folded, style=style, markup=False, soft_wrap=True)


def _folded(line: str, width: int) -> str:
    """Folds a line between words. A line that begins with blanks continues two columns further
    right.
    """
    blanks = len(line) - len(line.lstrip())
    below = " " * (blanks + 2 if blanks else 0)
    return textwrap.fill(
        line, width, subsequent_indent=below, break_long_words=False, break_on_hyphens=False
    )


def console() -> Console:
    """Standard output."""
    out = Console(highlight=False, force_jupyter=False)
    return Console(
        highlight=False, force_jupyter=False, width=room(out.width if out.is_terminal else 0)
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
    """Line by line, as wide as the table is, without the blanks that fill the last column."""
    width = table.__rich_measure__(out, out.options.update(width=10**6)).maximum
    for line in out.render_lines(table, out.options.update(width=width), pad=False):
        out.print(Segments([*_bare(line), Segment.line()]), soft_wrap=True, end="")


def _bare(line: Sequence[Segment]) -> list[Segment]:
    letters = list(line)
    while letters and not letters[-1].text.rstrip():
        letters.pop()
    if letters:
        letters[-1] = letters[-1]._replace(text=letters[-1].text.rstrip())
    return letters


def cells(rows: Sequence[Row], columns: Sequence[Column]) -> tuple[list[Column], list[list[str]]]:
    """The columns in which something is known, and every row as it is written."""
    shown = [column for column in columns if any(_cell(column, row) != EMPTY for row in rows)]
    return shown, [[_cell(column, row) for column in shown] for row in rows]


def _cell(column: Column, row: Row) -> str:
    value = column.value(row) if callable(column.value) else row.get(column.value)
    return plain(column.write(value))
