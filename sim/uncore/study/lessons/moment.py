"""The moment of a traced run that a lesson opens the stepper at.

    at(trace, "nodes", "crowd") -> (ps from the window's start, line)

"crowd": most messages about the line are under way; "first KIND": a message of that kind leaves,
the first about the line; "interrupted": most harts have an interrupt under way to them.
"""

from __future__ import annotations

from typing import Any

from uncore.errors import UserError
from uncore.trace import Trace
from uncore.trace.named_tables import TIME_NOT_REACHED

REGISTER = "write"  # event whose write to a register is an interrupt


def at(trace: Trace, name: str, moment: str) -> tuple[int, int]:
    line = next((number for number in trace.lines if name in trace.name(number)), None)
    if line is None:
        raise UserError(f"watch: no traced line is called '{name}'")
    messages = trace.tables["messages"]
    if moment == "interrupted":
        when = _crowd(messages.filter(messages["kind"] == REGISTER))
        return when - trace.window.start, line
    mine = messages.filter(messages["line"] == line)
    if moment == "crowd":
        return _crowd(mine) - trace.window.start, line
    sent = mine.filter(mine["kind"] == moment.removeprefix("first "))["sent"].to_list()
    if not sent:
        raise UserError(f"watch: moment '{moment}': no such message about '{name}'")
    return min(sent) - trace.window.start, line


def _crowd(messages: Any) -> int:
    """When most of them are under way, and the last of these has left."""
    ends = [(t, 1) for t in messages["sent"].to_list()]
    ends += [(t, -1) for t in messages["arrived"].to_list() if t != TIME_NOT_REACHED]
    under_way, most, when = 0, 0, 0
    for time, step in sorted(ends):
        under_way += step
        if under_way > most:
            most, when = under_way, time
    return when
