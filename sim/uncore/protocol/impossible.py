"""A cell that its table declares impossible and a run has met, in words that name it.

    worded("join in B idle met ProbeM, ... (line 33579736)", tables)
        "join.table, row 'B idle', column ProbeM was met, declared impossible: only an owner ..."

Both engines and the checker write the first form; what is not of that form stays as it is.
"""

from __future__ import annotations

import re

from uncore.protocol.tables import Tables

LINE = 64  # bytes
MET = re.compile(r"(\w+) in (.+) met (\w+), which its table declares impossible \(line (\d+)\)")


def worded(reason: str, tables: Tables) -> str:
    """Names file, row, column and the file's reason, and the address of the line."""
    match = MET.fullmatch(reason)
    if not match:
        return reason
    name, row, column, line = match.groups()
    table = next(table for table in tables if table.shape.name == name)
    why = table[row, column].reason if (row, column) in table.cells else "there is no such column"
    return (
        f"{table.shape.file}, row '{row}', column {column} was met, declared impossible: {why}"
        f" (the line of {int(line) * LINE:#x})"
    )
