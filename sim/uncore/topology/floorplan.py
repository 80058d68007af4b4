"""Parses floorplans, which draw the positions of a join's agents as words.

    map = '''              a line is a row of crosspoints, a ring, or the row of a ladder
      0   1   m   2       member 0 (and its slice), member 1, the memory port, member 2
      3+4 u   .   x       two members at one stop; the uplink; an empty crosspoint; a hole
    '''

A number is a member (a child in the tree, from 0) with its slice. `s` is a slice without a member;
if a map has an `s`, members have no slices. `m` is the memory port, `u` the port to the level
above. Each of `b0` and `b1` occurs twice, at the two ends of a bridge between rings. `.` is a stop
without agents, and `x` means that there is no stop. Invariant: every member is in the map exactly
once.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from uncore.topology.units import UnitError

Spot = tuple[int, int]  # column, row
MAX_MAP_SIDE = 128
MAP_WORD_PATTERN = re.compile(r"\d{1,4}|[smu.]|b\d{1,2}")


@dataclass
class Floorplan:
    spots: list[Spot] = field(default_factory=list)  # row by row, each from left to right
    members: dict[int, Spot] = field(default_factory=dict)
    slices: list[Spot] = field(default_factory=list)
    bridges: dict[str, list[Spot]] = field(default_factory=dict)
    memory: Spot | None = None
    uplink: Spot | None = None
    layers: int = 1  # rows are divided equally among the layers

    def row(self, row: int) -> list[Spot]:
        return [spot for spot in self.spots if spot[1] == row]


def parse_map(text: str, members: int) -> Floorplan:
    plan = Floorplan()
    rows = [line.split() for line in text.splitlines() if line.strip()]
    if not rows or len(rows) > MAX_MAP_SIDE or max(map(len, rows)) > MAX_MAP_SIDE:
        raise UnitError(f"expected 1 to {MAX_MAP_SIDE} lines of 1 to {MAX_MAP_SIDE} words each")
    for y, row in enumerate(rows):
        for x, word in enumerate(row):
            if word != "x":
                plan.spots.append((x, y))
                for agent in word.split("+"):
                    _place_agent(plan, agent, (x, y))
    _check_plan(plan, members)
    return plan


def _place_agent(plan: Floorplan, agent: str, spot: Spot) -> None:
    if not MAP_WORD_PATTERN.fullmatch(agent):
        raise UnitError(
            f"'{agent}' is no agent of a map: expected a member's number, s, m, u, b0, '.' or 'x',"
            " joined by '+' where several share a stop"
        )
    if agent.isdigit():
        if int(agent) in plan.members:
            raise UnitError(f"member {agent} stands twice in the map; expected once")
        plan.members[int(agent)] = spot
    elif agent == "s":
        plan.slices.append(spot)
    elif agent == "m":
        plan.memory = plan.memory or spot
    elif agent == "u":
        plan.uplink = plan.uplink or spot
    elif agent.startswith("b"):
        plan.bridges.setdefault(agent, []).append(spot)


def _check_plan(plan: Floorplan, members: int) -> None:
    for number in range(members):
        if number not in plan.members:
            raise UnitError(f"member {number} is not in the map; expected 0 to {members - 1}")
    if len(plan.members) > members:
        extra = max(plan.members)
        raise UnitError(f"the map has a member {extra}, the tree only 0 to {members - 1}")
    for name, ends in plan.bridges.items():
        if len(ends) != 2 or ends[0][1] == ends[1][1]:
            raise UnitError(f"bridge '{name}' needs two ends, one in each ring")


def row_of(members: int) -> Floorplan:
    return grid_of(members, members, 1)


def grid_of(members: int, width: int, height: int, layers: int = 1) -> Floorplan:
    """Puts one member at each crosspoint, row by row. If there are more members than spots, each
    spot gets the same number of consecutive members.
    """
    height *= layers
    if (
        not 0 < width <= MAX_MAP_SIDE**2
        or not 0 < height <= MAX_MAP_SIDE
        or width * height > MAX_MAP_SIDE**2
    ):
        raise UnitError(
            f"{width}x{height} is no size: expected at most {MAX_MAP_SIDE}x{MAX_MAP_SIDE}"
        )
    spots = [(x, y) for y in range(height) for x in range(width)]
    share = -(-members // len(spots))
    spot_of_member = {m: spots[m // share] for m in range(members)}
    return Floorplan(spots, spot_of_member, layers=layers)
