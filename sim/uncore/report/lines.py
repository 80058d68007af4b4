"""Prints the cache lines with the most transfers, by the names that the program gives them.

`show(program, point, size)` prints them; `size` is the bytes of a line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from uncore.drawing import formats as units
from uncore.drawing.table import Column, emit
from uncore.program.frames import demangled

if TYPE_CHECKING:
    from uncore.program import Program
    from uncore.result import Point

MAX_LINES_SHOWN = 5

COLUMNS = [
    Column("line", "line", left=True, about="its address"),
    Column("holds", "holds", left=True, about="objects of the program on the line"),
    Column(
        "transfers", "transfers", units.count, about="number of times that the line was fetched"
    ),
    Column("per operation", "per_op", "{:.2f}".format, about="transfers over operations"),
    Column("share", "share", units.percent, about="share of all transfers in the run"),
]


def show(program: Program, point: Point, size: int) -> None:
    """Prints the most transferred lines of a point; `size` is the bytes of a line."""
    if not point.lines:
        return
    allocated = dict(point.names)
    total = sum(transfers for _, transfers in point.lines)
    rows = [
        {
            "line": f"{address:#x}",
            "holds": holds(program, address, size) or allocated.get(address, "(allocated)"),
            "transfers": transfers,
            "per_op": transfers / max(point.ops, 1),
            "share": transfers * 10**6 // max(total, 1),
        }
        for address, transfers in point.lines[:MAX_LINES_SHOWN]
    ]
    seed = f", seed {point.seed}" if isinstance(point.seed, int) else ""
    shown_note = (
        f", {MAX_LINES_SHOWN} of {len(point.lines)}" if len(point.lines) > MAX_LINES_SHOWN else ""
    )
    emit(rows, False, COLUMNS, f"lines fetched most, at {point.threads} threads{seed}{shown_note}")


def holds(program: Program, address: int, size: int) -> str:
    """Returns the names of the program's objects on the line; "" if there are none, as in memory
    that the program has allocated.
    """
    names = [
        demangled(symbol.name)
        for symbol in program.symbols
        if symbol.size
        and symbol.address < address + size
        and address < symbol.address + symbol.size
    ]
    return ", ".join(names)
