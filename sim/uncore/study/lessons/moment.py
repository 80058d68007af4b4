"""Finds the moment of a traced run at which a lesson opens the stepper.

    find_moment(trace, "nodes", "crowd") -> (ps from the window's start, line)

"crowd": when most messages about the line are in flight. "first KIND": when the first message of
that kind about the line is sent. "interrupted": when most interrupts are in flight.
"""

from __future__ import annotations

from typing import Any

from uncore.errors import UserError
from uncore.trace import Trace
from uncore.trace.named_tables import TIME_NOT_REACHED

REGISTER_WRITE = "write"  # kind of message that writes a register, and so sends an interrupt


def find_moment(trace: Trace, name: str, moment: str) -> tuple[int, int]:
    line = next((number for number in trace.lines if name in trace.name(number)), None)
    if line is None:
        raise UserError(f"watch: no traced line is called '{name}'")
    messages = trace.tables["messages"]
    if moment == "interrupted":
        when = _crowded_moment(messages.filter(messages["kind"] == REGISTER_WRITE))
        return when - trace.window.start, line
    line_messages = messages.filter(messages["line"] == line)
    if moment == "crowd":
        return _crowded_moment(line_messages) - trace.window.start, line
    sent_times = line_messages.filter(line_messages["kind"] == moment.removeprefix("first "))[
        "sent"
    ].to_list()
    if not sent_times:
        raise UserError(f"watch: moment '{moment}': no such message about '{name}'")
    return min(sent_times) - trace.window.start, line


def _crowded_moment(messages: Any) -> int:
    """Returns the first time at which the number of messages in flight is greatest."""
    events = [(t, 1) for t in messages["sent"].to_list()]
    events += [(t, -1) for t in messages["arrived"].to_list() if t != TIME_NOT_REACHED]
    in_flight, maximum, when = 0, 0, 0
    for time, change in sorted(events):
        in_flight += change
        if in_flight > maximum:
            maximum, when = in_flight, time
    return when
