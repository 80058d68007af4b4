"""A protocol's tables for people: aligned text, Markdown, HTML.

    text(table)  markdown(table)  html(table)      one table, as the chosen protocol reads it
    page(tables) -> str                            all four in Markdown, with their reasons

Invariant: `text` is what a .table file holds, without comments, and reads back as the same table.
"""

from __future__ import annotations

from html import escape

from uncore.protocol.shapes import Table
from uncore.protocol.tables import Tables


def rows(table: Table) -> list[list[str]]:
    """The head, then every row that can be written, as words."""
    omitted = table.shape.omitted
    written = [row for row in table.rows if row.split()[0] not in omitted]
    return [
        [table.shape.head, *table.columns],
        *([row, *(table[row, column].text for column in table.columns)] for row in written),
    ]


def reasons(table: Table) -> dict[str, str]:
    """What the table says of its impossible cells, by the word that stands for it."""
    return {
        cell.text[1:]: cell.reason for cell in table if cell.reason and cell.text.startswith("!")
    }


def text(table: Table) -> str:
    lines = rows(table)
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    aligned = []
    for name, *cells in lines:
        padded = [cell.ljust(width) for cell, width in zip(cells, widths[1:], strict=True)]
        aligned.append(f"{name.ljust(widths[0])} | {'  '.join(padded)}".rstrip())
    why = [f"{word}: {reason}" for word, reason in reasons(table).items() if word]
    return "\n".join([*aligned, "", *why]) + "\n"


def markdown(table: Table) -> str:
    head, *body = rows(table)
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    lines += [f"| **{row[0]}** | {' | '.join(row[1:])} |" for row in body]
    why = [f"* `!{word}` {reason}" for word, reason in reasons(table).items() if word]
    return "\n".join([*lines, "", *why]) + "\n"


def html(table: Table) -> str:
    """A <table>; an impossible cell carries its reason as a tooltip and the class `impossible`."""
    head = "".join(f"<th>{escape(word)}</th>" for word in rows(table)[0])
    body = []
    for row in (line[0] for line in rows(table)[1:]):
        cells = (table[row, column] for column in table.columns)
        filled = "".join(
            f"<td>{escape(cell.text)}</td>"
            if cell.possible
            else f'<td class="impossible" title="{escape(cell.reason)}">{escape(cell.text)}</td>'
            for cell in cells
        )
        body.append(f"<tr><th>{escape(row)}</th>{filled}</tr>")
    return f"<table>\n<tr>{head}</tr>\n" + "\n".join(body) + "\n</table>\n"


def page(tables: Tables) -> str:
    parts = [f"## {table.shape.name}\n\n{markdown(table)}" for table in tables]
    return f"# {tables.name}\n\n" + "\n".join(parts)
