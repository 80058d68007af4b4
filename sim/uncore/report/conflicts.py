"""`uncore conflicts`: prints which kinds of operations conflict, on which lines and source places.

`show(title, pairs)` prints the tables.  The rows of `--json` are `uncore.result.conflicts.Pair`.
"""

from __future__ import annotations

from collections.abc import Sequence

from uncore.drawing.table import Column, emit
from uncore.result.conflicts import Meeting, Pair

MAX_LINES_PER_PAIR = 6


def show(title: str, pairs: Sequence[Pair]) -> None:
    """Prints a table of pairs, then the lines on which each conflicting pair conflicts."""
    rows = [
        {
            "pair": f"{pair.a}, {pair.b}",
            "verdict": "conflict-free" if pair.conflict_free else "conflict",
            "lines": len(pair.lines) or None,
        }
        for pair in pairs
    ]
    emit(rows, False, PAIR_COLUMNS, title)
    for pair in pairs:
        if pair.lines:
            emit(
                [_row(m) for m in pair.lines[:MAX_LINES_PER_PAIR]],
                False,
                MEETING_COLUMNS,
                _head(pair),
            )


def _head(pair: Pair) -> str:
    extra_lines = (
        f", {MAX_LINES_PER_PAIR} of {len(pair.lines)} lines"
        if len(pair.lines) > MAX_LINES_PER_PAIR
        else ""
    )
    return f"{pair.a}, {pair.b}{extra_lines}"


def _row(meeting: Meeting) -> dict[str, str]:
    return {
        "line": f"{meeting.line:#x}",
        "holds": ", ".join(meeting.holds[:4]) + (", ..." if len(meeting.holds) > 4 else ""),
        "why": "value" if meeting.same_bytes else "layout",
        "wrote": " ".join(meeting.wrote),
        "touched": " ".join(meeting.touched),
    }


PAIR_COLUMNS = [
    Column("operations", "pair", left=True, about="names of the two kinds of operations"),
    Column(
        "in this run",
        "verdict",
        left=True,
        about="verdict: conflict, if one wrote a line that the other used",
    ),
    Column("on lines", "lines", about="number of lines on which they conflict"),
]
MEETING_COLUMNS = [
    Column("line", "line", left=True, about="address of a cache line on which they met"),
    Column("holds", "holds", left=True, about="variables and fields on the line"),
    Column(
        "shared by",
        "why",
        left=True,
        about="value: they used the same bytes; layout: only the same line",
    ),
    Column("written at", "wrote", left=True, about="file and line"),
    Column("used by another hart at", "touched", left=True, about="file and line"),
]
COLUMNS = [*PAIR_COLUMNS, *MEETING_COLUMNS]
