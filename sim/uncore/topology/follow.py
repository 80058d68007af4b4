"""Finds numbers of a machine file that are defined by another number of the same table, the leader.

The interface:

    source = "as KEY"            the number equals the leader
    source = "0.35 of KEY"       the number is 0.35 of the leader
    followers(leader, numbers)   the numbers that follow it, each with its ratio
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from uncore.topology.machine import Number

FOLLOWS_PATTERN = re.compile(r"(?:as|([\d.]+) of) (\w+)\b")


def followers(leader: Number, numbers: Iterable[Number]) -> list[tuple[Number, float]]:
    return [(number, ratio) for number in numbers if (ratio := _ratio(number, leader))]


def _ratio(number: Number, leader: Number) -> float:
    """Returns the ratio of a number to this leader; 0 if the leader does not define the number."""
    match = FOLLOWS_PATTERN.match(number.source)
    table, _, name = leader.key.rpartition(".")
    if not match or match[2] != name or number.key.rpartition(".")[0] != table:
        return 0
    return float(match[1] or 1)
