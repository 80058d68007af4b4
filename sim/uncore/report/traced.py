"""Prints the number of events of each kind in a trace, for each cache line."""

from __future__ import annotations

from typing import Any

from uncore.drawing import formats as units
from uncore.drawing.table import Column, emit
from uncore.trace import Trace

MAX_TRACED_LINES_SHOWN = 12

COLUMNS = [
    Column("line", "line", left=True, key=True, about="objects on the line that were used"),
    Column("address", "address", left=True, about="of the line"),
    Column("accesses", "accesses", units.count, about="performed on it"),
    Column("messages", "messages", units.count, about="sent about it"),
    Column(
        "states",
        "states",
        units.count,
        about="cells of the client table that its copies went through",
    ),
    Column(
        "transactions", "transactions", units.count, about="transactions that its resolvers closed"
    ),
    Column(
        "waited", "waited_ps", units.duration, about="time that its messages waited for channels"
    ),
]


def show(trace: Trace, json: bool) -> None:
    rows = [_row(trace, line) for line in trace.lines]
    head = "" if json else f"the {MAX_TRACED_LINES_SHOWN} lines of most messages, of {len(rows)}"
    emit(rows if json else rows[:MAX_TRACED_LINES_SHOWN], json, COLUMNS, head)


def _row(trace: Trace, line: int) -> dict[str, Any]:
    tables = {
        name: trace.tables[name].filter(trace.tables[name]["line"] == line)
        for name in ("accesses", "messages", "states", "transactions")
    }
    return {
        "line": trace.name(line),
        "address": f"{line:#x}",
        **{name: len(table) for name, table in tables.items()},
        "waited_ps": sum(tables["messages"]["waited"].to_list()),
    }
