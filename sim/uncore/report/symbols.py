"""Prints the functions of a kernel that wait longest for memory.

`show(rows)` prints the first of the rows that `uncore.boot.kernel_symbols.costs` returns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from uncore.drawing import formats as units
from uncore.drawing.table import Column, emit

MAX_FUNCTIONS_SHOWN = 20

COLUMNS = [
    Column("symbol", "symbol", left=True, about="function of the kernel; all programs are one row"),
    Column(
        "waited", "waited_ps", units.duration, about="time that all harts waited in the function"
    ),
    Column("share", "share", units.percent, about="share of all waiting"),
    Column("misses", "misses", units.count, about="accesses that missed in the caches"),
    Column("lines", "lines", units.count, about="that it touched"),
    Column(
        "worst line",
        "worst",
        left=True,
        about="physical address of the line that it waited for most",
    ),
    Column("of it", "of_it", units.percent, about="that line's share of the function's waiting"),
]


def show(rows: Sequence[Mapping[str, Any]]) -> None:
    count_text = (
        f", {MAX_FUNCTIONS_SHOWN} of {len(rows)}" if len(rows) > MAX_FUNCTIONS_SHOWN else ""
    )
    emit(list(rows[:MAX_FUNCTIONS_SHOWN]), False, COLUMNS, f"where the kernel waited{count_text}")
