"""Computes the costs of accesses on the machine of line.py from the rules, in ns."""

from __future__ import annotations

from tests.support.line import CORE, HOME, NODE, NS, H, way

LOAD, ATOMIC, L2 = CORE.l1_hit // NS, CORE.atomic // NS, CORE.l2_hit // NS
RESTART, MISPREDICT = CORE.restart // NS, CORE.mispredict // NS
SERVICE, MEMORY = HOME.service // NS, NODE.latency // NS


def fetch(stop: int) -> int:
    """Returns the ns from a miss to the arrival of the line from memory."""
    return L2 + way("control", stop, H) + SERVICE + MEMORY + way("data", H, stop)


def taken(stop: int, owner: int) -> int:
    """Returns the ns from a miss to the arrival of the line from another core."""
    arrival = L2 + way("control", stop, H) + SERVICE + way("snoop", H, owner)
    return arrival + L2 + way("data", owner, stop)
