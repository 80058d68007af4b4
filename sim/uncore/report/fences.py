"""`uncore fences`: a row for each weakening of a memory order, then how to repeat what failed.

Interface: `show(title, answers)` for people.  The rows of `--json` are `asking.Answer`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from uncore.drawing.table import Column, emit, say

SAME = "same code"


def show(title: str, rows: Sequence[Mapping[str, Any]]) -> None:
    shown = [row for row in rows if row["verdict"] != SAME]
    columns = [
        Column("place", "place", left=True),
        Column("says", lambda row: row["says"] or None, left=True),
        Column("weakened to", lambda row: row["weakened"] or None, left=True),
        Column("verdict", "verdict", left=True),
        Column("by", _by, left=True),
    ]
    emit(shown, False, columns, title)
    for row in shown:
        if row["failure"]:
            to = f", {row['weakened']}" if row["weakened"] else ""
            why = row["failure"]["why"].splitlines()[0]
            say(f"{row['place']}{to}: {why}\n  {row['failure']['repeat']}")
    if same := [row["place"] for row in rows if row["verdict"] == SAME]:
        say(f"weakened without any change of the instructions: {', '.join(same)}")


def _by(row: Mapping[str, Any]) -> str:
    return f"seed {row['failure']['seed']}" if row["failure"] else f"{row['runs']} runs"
