"""A cell that its table declares impossible and a run has met, in words that name it.

    worded("join in B idle met ProbeM, ... (line 33579736)", tables)
        "join.table, row 'B idle', column ProbeM was met, declared impossible: only an owner ..."

Both engines and the checker, whose lines have no address, write the first form; what is not of that
form stays as it is.  A file that the protocol's folder lacks is said to be the shipped one.
"""

from __future__ import annotations

import re

from uncore.protocol.tables import Tables, shipped_in

UNIT = 64  # bytes: a line's number here is that of its first 64
MET = re.compile(r"(\w+) in (.+) met (\w+), which its table declares impossible \(line (\d+)\)")


def worded(reason: str, tables: Tables, addressed: bool = True) -> str:
    """Names file, row, column and the file's reason, and the address of the line if it has one."""
    match = MET.fullmatch(reason)
    if not match:
        return reason
    name, row, column, line = match.groups()
    table = next(table for table in tables if table.shape.name == name)
    why = table[row, column].reason if (row, column) in table.cells else "there is no such column"
    file = table.shape.file
    lent = f" (the shipped one: '{tables.name}' has none)" if file in shipped_in(tables) else ""
    where = f" (the line of {int(line) * UNIT:#x})" if addressed else ""
    return f"{file}{lent}, row '{row}', column {column} was met, declared impossible: {why}{where}"
