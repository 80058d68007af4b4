"""Numbers of a machine file that follow another of their table: what moves one moves them.

source = "as KEY"            equal to it           source = "0.35 of KEY"    at this ratio

followers(leader, numbers) -> [(number, ratio)]
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from uncore.topology.machine import Number

FOLLOWS = re.compile(r"(?:as|([\d.]+) of) (\w+)\b")


def followers(leader: Number, numbers: Iterable[Number]) -> list[tuple[Number, float]]:
    return [(number, ratio) for number in numbers if (ratio := _ratio(number, leader))]


def _ratio(number: Number, leader: Number) -> float:
    """0: it does not follow this one."""
    match = FOLLOWS.match(number.source)
    table, _, name = leader.key.rpartition(".")
    if not match or match[2] != name or number.key.rpartition(".")[0] != table:
        return 0
    return float(match[1] or 1)
