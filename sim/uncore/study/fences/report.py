"""Prints the answers of `uncore fences`: a row for each weakening, then commands that repeat the
failures.

Interface: `show(title, rows)`. The rows of `--json` are questions.Answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from uncore.drawing.table import Column, emit, say
from uncore.study.fences.questions import FAILS, NOT_SEEN_NEEDED, SAME_CODE


def show(title: str, rows: Sequence[Mapping[str, Any]]) -> None:
    changed_rows = [row for row in rows if row["verdict"] != SAME_CODE]
    columns = [
        Column("place", "place", left=True),
        Column("says", lambda row: row["says"] or None, left=True),
        Column("weakened to", lambda row: row["weakened"] or None, left=True),
        Column("verdict", "verdict", left=True),
        Column("by", _by, left=True),
    ]
    emit(changed_rows, False, columns, title)
    for row in changed_rows:
        if row["failure"]:
            to = f", {row['weakened']}" if row["weakened"] else ""
            why = row["failure"]["why"].splitlines()[0]
            say(f"{row['place']}{to}: {why}\n  {_with_tilde(row['failure']['repeat'])}")
    if same := [row["place"] for row in rows if row["verdict"] == SAME_CODE]:
        say(f"weakened without any change of the instructions: {', '.join(same)}")
    if rows and (next_step := advice(title.partition(":")[0], rows)):
        say(f"\n{next_step}")


def advice(workload: str, rows: Sequence[Mapping[str, Any]]) -> str:
    """Returns a sentence on what to do next, with a command; "" if the program fails without any
    weakening.
    """
    verdicts = [row["verdict"] for row in rows]
    alone = [row for row in rows if row["says"]]
    if FAILS in verdicts or not alone:
        return ""
    not_needed = [row["place"] for row in alone if row["verdict"] == NOT_SEEN_NEEDED]
    if not not_needed:
        repeat = next(row["failure"]["repeat"] for row in alone if row["failure"])
        command = _with_tilde(repeat)
        return f"Keep every order: each failed without. To see a failure again:\n  {command}"
    runs = max(row["runs"] for row in alone)
    return (
        f"Before {', '.join(dict.fromkeys(not_needed))} is weakened, ask harder; {runs} runs that"
        f" do not fail are no proof:\n  uncore fences {workload} --seeds {10 * runs}"
    )


def _with_tilde(command: str) -> str:
    """Replaces the home directory by `~`, so that the output is the same on all computers."""
    return command.replace(f" {Path.home()}/", " ~/")


def _by(row: Mapping[str, Any]) -> str:
    return f"seed {row['failure']['seed']}" if row["failure"] else f"{row['runs']} runs"
