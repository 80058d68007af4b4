"""Draws a counterexample as a message chart: one column for each agent, with time downwards.

    chart(steps) -> lines       `steps` are texts of the checker: a step, and the states after it

A state is shown in the column of its agent when it changes; an arrow leads from the sender to the
receiver of a message.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

STATES_PATTERN = re.compile(r"\S+=\S+(?: \S+=\S+)*$")
MESSAGE_PATTERN = re.compile(
    r"(?P<message>.+?) (?P<source>\S+) to (?P<target>\S+)(?P<purpose> for \S+)?"
)
COLUMN_GAP = 3  # blanks between columns


def chart(steps: Sequence[str]) -> list[str]:
    parsed_steps = [(_action(step), _states(step)) for step in steps]
    agents = list(parsed_steps[0][1]) if parsed_steps else []
    if not agents or any(list(states) != agents for _, states in parsed_steps):
        return list(steps)  # steps that do not list the states of all agents cannot be drawn
    width = (
        max(len(word) for _, states in parsed_steps for word in (*states, *states.values()))
        + COLUMN_GAP
    )
    return list(_lines(parsed_steps, agents, width))


def _action(step: str) -> str:
    return STATES_PATTERN.sub("", step).strip()


def _states(step: str) -> dict[str, str]:
    match = STATES_PATTERN.search(step)
    return dict(word.split("=", 1) for word in match[0].split()) if match else {}


def _lines(
    parsed_steps: Sequence[tuple[str, dict[str, str]]], agents: list[str], width: int
) -> Iterator[str]:
    yield "".join(agent.center(width) for agent in agents).rstrip()
    last_states: dict[str, str] = {}
    for action, states in parsed_steps:
        line = [
            (states[agent] if states[agent] != last_states.get(agent) else "|").center(width)
            for agent in agents
        ]
        match = MESSAGE_PATTERN.fullmatch(action)
        ends = [match[end] for end in ("source", "target")] if match else []
        text = "".join(line)
        if match and set(ends) <= set(agents):
            text = _arrow(text, *(agents.index(end) * width + (width - 1) // 2 for end in ends))
            action = match["message"] + (match["purpose"] or "")
        yield f"{text}   {action}"
        last_states = states


def _arrow(text: str, source: int, target: int) -> str:
    """Draws an arrow between two columns of the text, which keep the states written in them."""
    low, high = sorted((source, target))
    begin = low + len(re.match(r"\S*", text[low:])[0])  # type: ignore[index]
    end = high - len(re.search(r"\S*$", text[:high])[0])  # type: ignore[index]
    shaft = "-" * (end - begin - 3)
    arrow = f" {shaft}> " if source < target else f" <{shaft} "
    return text[:begin] + arrow + text[end:]
