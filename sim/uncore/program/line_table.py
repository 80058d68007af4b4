"""Finds the `file:line` of a pc in DWARF's line tables.

table = line_table(data)             sorted; empty without debug information
find(table, pc) -> "lock/ticket.c:26" or None
"""

from __future__ import annotations

import bisect
from collections.abc import Iterator
from typing import Any

from uncore.program.dwarf import units

Row = tuple[int, str | None]  # first pc, and `file:line`; None: it is unknown from this pc on
Table = tuple[Row, ...]


def line_table(data: bytes) -> Table:
    """Returns all line tables of a program as one table; () if they cannot be read."""
    try:
        dwarf, units_ = units(data)
        rows = [row for unit in units_ for row in _unit_rows(dwarf, unit)]
    except Exception:  # damaged debug information must not stop a run
        return ()
    # If a sequence ends at the pc at which another begins, the row of the beginning must be last.
    return tuple(sorted(rows, key=lambda row: (row[0], row[1] is not None)))


def _unit_rows(dwarf: Any, unit: Any) -> Iterator[Row]:
    program = dwarf.line_program_for_CU(unit)
    if program is None:
        return
    names = [_file_name(program, entry) for entry in program["file_entry"]]
    first = 0 if program["version"] >= 5 else 1
    for entry in program.get_entries():
        state = entry.state
        if state is None:
            continue
        position = None if state.end_sequence else f"{names[state.file - first]}:{state.line}"
        yield state.address, position


def _file_name(program: Any, entry: Any) -> str:
    name: str = entry.name.decode()
    folders = program["include_directory"]
    index = entry.dir_index - (0 if program["version"] >= 5 else 1)
    folder = folders[index].decode() if 0 <= index < len(folders) else ""
    return name if folder in ("", ".") or name.startswith("/") else f"{folder}/{name}"


def find(table: Table, pc: int) -> str | None:
    """Returns the `file:line` of the instruction at pc, or None."""
    index = bisect.bisect_right(table, pc, key=lambda row: row[0]) - 1
    return table[index][1] if index >= 0 else None
