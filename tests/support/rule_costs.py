"""Costs in ns of accesses on the machine of line.py, computed from the rules."""

from __future__ import annotations

from tests.support.line import CORE, HOME, NODE, NS, H, way

LOAD, ATOMIC, L2 = CORE.l1_hit // NS, CORE.atomic // NS, CORE.l2_hit // NS
RESTART, MISPREDICT = CORE.restart // NS, CORE.mispredict // NS
SERVICE, MEMORY = HOME.service // NS, NODE.latency // NS


def fetch(stop: int) -> int:
    """Returns ns from a miss until the line has arrived from memory."""
    return L2 + way("control", stop, H) + SERVICE + MEMORY + way("data", H, stop)


def taken(stop: int, owner: int) -> int:
    """Returns ns from a miss until the line has arrived from another core."""
    arrival = L2 + way("control", stop, H) + SERVICE + way("snoop", H, owner)
    return arrival + L2 + way("data", owner, stop)
