"""Reads joins, which are the interconnects between the children of a group, and their costs.

`read_join` reads a level's `join` table as a `Join`; `builders.build` lays out an instance of it
for each group of the level.

    crossbar    a hub, or several parallel hubs; half of the latency is before it, half after it
    bus         a hub behind one shared channel; half of the latency is before it, half after it
    ring        stops in a circle with links in both directions; on ties routes go clockwise
    two-rings   two rings and the bridges between them
    ladder      a grid of two rows              quadrants   a 2x2 grid, perhaps with diagonals
    mesh        a grid, perhaps with holes or layers; routes go along x before y before z
    torus       a mesh in which each line of more than two stops is closed to a ring
    all-to-all  a link between any two members  links       only the links that are listed

Positions come from `map` (see `floorplan.py`), from `size`, or from the order of the members.
`latency` is the time to cross the join, in rings and grids the time of one hop; `dx`, `dy`, `dz`,
`diagonal` and `bridge` replace it for hops in one direction. `control_ratio` is the ratio of the
latency of control messages to that of data. `inject` and `eject` are the latencies between a member
and its stop.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from uncore.topology.fabric import Cost
from uncore.topology.link import GRIDS, JOINS_WITH_ATTACHMENT
from uncore.topology.table_reader import Table
from uncore.topology.units import ps

FREE_COST = Cost()


@dataclass(frozen=True)
class Messages:
    control: int  # size of a message without data, in bytes
    data: int  # size of a message with a line, in bytes


@dataclass
class Join:
    level: str
    kind: str
    table: Table
    enter: Cost
    leave: Cost
    # key: "x", "y", "z", "diagonal", "bridge", or "all" directions
    hop: dict[str, Cost] = field(default_factory=dict)

    def refuse(self, key: str, message: str) -> Exception:
        return self.table.wrong(key, f"'{self.table.name(key)}': {message}")


def read_join(table: Table, level: str, messages: Messages) -> Join:
    kind = table.word("kind")
    costs = _Costs(table, messages)
    has_attachment = kind in JOINS_WITH_ATTACHMENT
    enter, leave = (costs.attach(k) if has_attachment else FREE_COST for k in ("inject", "eject"))
    join = Join(level, kind, table, enter, leave)
    common = table.duration("latency", None) if kind in GRIDS else table.duration("latency")
    for hop, key in _hops(kind).items():
        latency = common if key == "latency" else table.duration(key, None)
        if latency is None and hop == "diagonal":
            continue
        latency = common if latency is None else latency
        if latency is not None:
            join.hop[hop] = costs.hop(latency)
        elif hop != "z":  # a grid of one layer needs no `dz`
            raise table.absent(key)
    return join


def _hops(kind: str) -> dict[str, str]:
    """Returns the directions in which a join of this kind has hops, each with the key of its
    latency.
    """
    if kind in GRIDS:
        more_directions = {"quadrants": {"diagonal": "diagonal"}, "ladder": {}}.get(
            kind, {"z": "dz"}
        )
        return {"x": "dx", "y": "dy"} | more_directions
    return {"all": "latency"} | ({"bridge": "bridge"} if kind == "two-rings" else {})


@dataclass
class _Costs:
    table: Table
    messages: Messages

    def hop(self, latency: Fraction) -> Cost:
        table = self.table
        ratio = table.share("control_ratio")
        return self._cost(latency, latency * ratio, table.rate("width", None))

    def attach(self, key: str) -> Cost:
        latency = self.table.duration(key)
        return self._cost(latency, latency, self.table.rate("attach_width", None))

    def _cost(self, data: Fraction, control: Fraction, rate: Fraction | None) -> Cost:
        sizes = (self.messages.control, self.messages.data)
        busy = [ps(size / rate) if rate else 0 for size in sizes]
        return Cost(ps(control), ps(data), busy[0], busy[1])
