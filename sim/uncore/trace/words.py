"""Returns names of agents, links and message sizes in a trace.

agent_name(machine, 3)       "core 3", "ccx0", "memory 1"
link_name(machine, 7)        "ccx0.hub to socket.x1y0"
size_of(message)             "control", "data" or "snoop": which cost of a link applies to it (F2)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from uncore.topology.machine import Machine

SNOOP_KINDS = ("ProbeS", "ProbeM", "Inv", "Answer", "Unblock")


def agent_name(machine: Machine, agent: int) -> str:
    """Returns the name of an agent, numbered as in rule A1.1."""
    resolver = agent - machine.cores
    if agent < 0:
        return "nobody"
    if resolver < 0:
        return f"core {agent}"
    if resolver < len(machine.resolvers):
        return machine.resolvers[resolver].name
    return f"memory {resolver - len(machine.resolvers)}"


def link_name(machine: Machine, number: int) -> str:
    link = machine.links[number]
    return f"{machine.stops[link.source]} to {machine.stops[link.target]}"


def size_of(message: Mapping[str, Any]) -> str:
    if message["carries"]:
        return "data"
    return "snoop" if message["kind"] in SNOOP_KINDS else "control"
