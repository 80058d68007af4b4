"""`uncore fences`: a row for each weakening of a memory order, then how to repeat what failed.

Interface: `show(title, answers)` for people.  The rows of `--json` are `asking.Answer`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from uncore.drawing.table import Column, emit, say
from uncore.study.fences.questions import FAILS, SAME, UNSEEN


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
            say(f"{row['place']}{to}: {why}\n  {_typed(row['failure']['repeat'])}")
    if same := [row["place"] for row in rows if row["verdict"] == SAME]:
        say(f"weakened without any change of the instructions: {', '.join(same)}")
    if rows and (said := advice(title.partition(":")[0], rows)):
        say(f"\n{said}")


def advice(workload: str, rows: Sequence[Mapping[str, Any]]) -> str:
    """The next step, as a sentence with its command; empty if the program itself fails."""
    verdicts = [row["verdict"] for row in rows]
    alone = [row for row in rows if row["says"]]
    if FAILS in verdicts or not alone:
        return ""
    unseen = list(dict.fromkeys(row["place"] for row in alone if row["verdict"] == UNSEEN))
    if not unseen:
        repeat = next(row["failure"]["repeat"] for row in alone if row["failure"])
        return f"Keep every order: each failed without. To see a failure again:\n  {_typed(repeat)}"
    runs = max(row["runs"] for row in alone)
    return (
        f"Before {', '.join(unseen)} is weakened, ask harder; {runs} runs that do not fail are no"
        f" proof:\n  uncore fences {workload} --seeds {10 * runs}"
    )


def _typed(command: str) -> str:
    """The command with the reader's home as a shell writes it, so that all hosts print the same."""
    return command.replace(f" {Path.home()}/", " ~/")


def _by(row: Mapping[str, Any]) -> str:
    return f"seed {row['failure']['seed']}" if row["failure"] else f"{row['runs']} runs"
