"""A table as aligned text.

    text(table)      what a .table file holds, without comments; of several tables, all
    rows(table)      its words, the head first;  reasons(table): of its impossible cells

Invariant: `text` reads back as the same table.
"""

from __future__ import annotations

from uncore.protocol.table_shapes import Table


def rows(table: Table) -> list[list[str]]:
    """The head, then every row that can be written, as words."""
    omitted = table.shape.omitted
    written = [row for row in table.rows if row.split()[0] not in omitted]
    return [
        [table.shape.head, *table.columns],
        *([row, *(table[row, column].text for column in table.columns)] for row in written),
    ]


def reasons(table: Table) -> dict[str, str]:
    """Reasons of the table's impossible cells, by the word that stands for each."""
    return {
        cell.text[1:]: cell.reason for cell in table if cell.reason and cell.text.startswith("!")
    }


def text(*tables: Table) -> str:
    why = {word: reason for table in tables for word, reason in reasons(table).items() if word}
    said = [f"{word}: {reason}" for word, reason in why.items()]
    return "\n".join([*(f"{aligned(table)}\n" for table in tables), *said]) + "\n"


def aligned(table: Table) -> str:
    lines = rows(table)
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    found = []
    for name, *cells in lines:
        padded = [cell.ljust(width) for cell, width in zip(cells, widths[1:], strict=True)]
        found.append(f"{name.ljust(widths[0])} | {'  '.join(padded)}".rstrip())
    return "\n".join(found)
