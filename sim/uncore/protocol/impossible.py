"""Describes a cell that its table declares impossible and that a run has nevertheless reached.

    worded("join in B idle met ProbeM, ... (line 33579736)", tables)
        "join.table, row 'B idle', column ProbeM was met, declared impossible: only an owner ..."

Both engines and the checker write the first form; any other text is returned unchanged. If the
folder of a user's protocol lacks the file, the message says that it means the shipped file.
"""

from __future__ import annotations

import re

from uncore.protocol.tables import Tables, shipped_in

UNIT = 64  # bytes per unit of a line's number
MET_IMPOSSIBLE_PATTERN = re.compile(
    r"(\w+) in (.+) met (\w+), which its table declares impossible \(line (\d+)\)"
)


def worded(reason: str, tables: Tables, addressed: bool = True) -> str:
    """Returns a message with the file, the row, the column and the reason that the file gives, and
    if `addressed`, with the line's address.
    """
    match = MET_IMPOSSIBLE_PATTERN.fullmatch(reason)
    if not match:
        return reason
    name, row, column, line = match.groups()
    table = next(table for table in tables if table.shape.name == name)
    reason = (
        table[row, column].reason if (row, column) in table.cells else "there is no such column"
    )
    file = table.shape.file
    shipped_note = (
        f" (the shipped one: '{tables.name}' has none)" if file in shipped_in(tables) else ""
    )
    address_note = f" (the line of {int(line) * UNIT:#x})" if addressed else ""
    cell = f"row '{row}', column {column}"
    return f"{file}{shipped_note}, {cell} was met, declared impossible: {reason}{address_note}"
