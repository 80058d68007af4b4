"""`uncore conflicts`: which kinds of operations meet on a line, and where in the source.

Interface: `show(program, pairs)` for people.  The rows of `--json` are `conflicts.Pair`.
"""

from __future__ import annotations

from collections.abc import Sequence

from uncore.report.table import Column, emit
from uncore.result.conflicts import Meeting, Pair

SHOWN = 6  # lines of one pair


def show(title: str, pairs: Sequence[Pair]) -> None:
    """A table of pairs, then the lines of each pair that conflicts."""
    rows = [
        {
            "pair": f"{pair.a}, {pair.b}",
            "verdict": "conflict-free" if pair.conflict_free else "conflict",
            "lines": len(pair.lines) or None,
        }
        for pair in pairs
    ]
    columns = [
        Column("operations", "pair", left=True),
        Column("in this run", "verdict", left=True),
        Column("on lines", "lines"),
    ]
    emit(rows, False, columns, title)
    for pair in pairs:
        if pair.lines:
            emit([_row(m) for m in pair.lines[:SHOWN]], False, _columns(), _head(pair))


def _head(pair: Pair) -> str:
    more = f", {SHOWN} of {len(pair.lines)} lines" if len(pair.lines) > SHOWN else ""
    return f"{pair.a}, {pair.b}{more}"


def _row(meeting: Meeting) -> dict[str, str]:
    return {
        "line": f"{meeting.line:#x}",
        "holds": ", ".join(meeting.holds[:4]) + (", ..." if len(meeting.holds) > 4 else ""),
        "why": "value" if meeting.same_bytes else "layout",
        "wrote": " ".join(meeting.wrote),
        "touched": " ".join(meeting.touched),
    }


def _columns() -> list[Column]:
    return [
        Column("line", "line", left=True),
        Column("holds", "holds", left=True),
        Column("shared by", "why", left=True),
        Column("written at", "wrote", left=True),
        Column("used by another hart at", "touched", left=True),
    ]
