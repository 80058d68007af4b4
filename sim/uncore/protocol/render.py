"""Renders a protocol's tables as Markdown and HTML.

markdown(table)  html(table)           one table, with the rows of its protocol
page(tables) -> str                    all tables of a protocol in Markdown, with their reasons
document(names) -> str                 several protocols, with the explanation of their terms
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from html import escape
from itertools import takewhile

from uncore.protocol import coverage
from uncore.protocol.aligned import reasons, rows
from uncore.protocol.table_shapes import PROTOCOLS, Table
from uncore.protocol.tables import SHIPPED, Tables, files, load


def markdown(table: Table) -> str:
    head, *body = rows(table)
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    lines += [f"| **{row[0]}** | {' | '.join(row[1:])} |" for row in body]
    reason_lines = [f"* `!{word}` {reason}" for word, reason in reasons(table).items() if word]
    return "\n".join([*lines, "", *reason_lines]) + "\n"


def html(table: Table) -> str:
    """Returns a <table>. An impossible cell has the class `impossible`, and its reason as a
    tooltip.
    """
    head = "".join(f"<th>{escape(word)}</th>" for word in rows(table)[0])
    body = []
    for row in (line[0] for line in rows(table)[1:]):
        cells = (table[row, column] for column in table.columns)
        cells_html = "".join(
            f"<td>{escape(cell.text)}</td>"
            if cell.possible
            else f'<td class="impossible" title="{escape(cell.reason)}">{escape(cell.text)}</td>'
            for cell in cells
        )
        body.append(f"<tr><th>{escape(row)}</th>{cells_html}</tr>")
    return f"<table>\n<tr>{head}</tr>\n" + "\n".join(body) + "\n</table>\n"


def page(tables: Tables) -> str:
    parts = [f"### {table.shape.name}\n\n{markdown(table)}" for table in tables]
    return f"## {tables.name.upper()}\n\n" + "\n".join(parts)


def document(names: Iterable[str] = PROTOCOLS) -> str:
    """Returns the page of these protocols. Its legends are the comments in the table files."""
    legends = [f"```text\n{legend(file)}\n```\n" for file in files()]
    protocols = [page(_reachable(load(name))) for name in names]
    return "\n".join([INTRODUCTION, "## What the words mean\n", *legends, *protocols])


def _reachable(tables: Tables) -> Tables:
    """Returns the tables with only the rows of which this protocol can reach at least one cell."""
    reachable_rows = {
        coverage.place(tables, cell).split("/")[0] for cell in coverage.expected(tables)
    }
    rows = (
        replace(
            table, rows=tuple(r for r in table.rows if f"{table.shape.name} {r}" in reachable_rows)
        )
        for table in tables
    )
    return Tables(tables.name, *rows)


INTRODUCTION = """# The protocol, as tables

The tables that both engines execute and that `uncore check` walks. Rules that cite them: sections
C, R and J of [model.md](model.md). Rows that a protocol never meets are left out.
"""


def legend(file: str) -> str:
    """Returns the comments at the head of a table's file."""
    lines = (SHIPPED / file).read_text().splitlines()
    head = takewhile(lambda line: line.startswith("#"), lines)
    return "\n".join(line.removeprefix("#").removeprefix(" ") for line in head)
