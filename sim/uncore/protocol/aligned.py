"""Formats a table as text with aligned columns.

    text(*tables)    the content of a .table file, without comments
    rows(table)      the words of each row, the head first
    reasons(table)   the reasons of its impossible cells

Invariant: reading the result of `text` gives the same table.
"""

from __future__ import annotations

from uncore.protocol.table_shapes import Table


def rows(table: Table) -> list[list[str]]:
    """Returns the words of the head, and of every row that a file may contain."""
    omitted = table.shape.omitted
    file_rows = [row for row in table.rows if row.split()[0] not in omitted]
    return [
        [table.shape.head, *table.columns],
        *([row, *(table[row, column].text for column in table.columns)] for row in file_rows),
    ]


def reasons(table: Table) -> dict[str, str]:
    """Returns the reasons of the table's impossible cells, by the word after `!` in the cell."""
    return {
        cell.text[1:]: cell.reason for cell in table if cell.reason and cell.text.startswith("!")
    }


def text(*tables: Table) -> str:
    reason_of = {
        word: reason for table in tables for word, reason in reasons(table).items() if word
    }
    reason_lines = [f"{word}: {reason}" for word, reason in reason_of.items()]
    return "\n".join([*(f"{aligned(table)}\n" for table in tables), *reason_lines]) + "\n"


def aligned(table: Table) -> str:
    lines = rows(table)
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    table_lines = []
    for name, *cells in lines:
        padded = [cell.ljust(width) for cell, width in zip(cells, widths[1:], strict=True)]
        table_lines.append(f"{name.ljust(widths[0])} | {'  '.join(padded)}".rstrip())
    return "\n".join(table_lines)
