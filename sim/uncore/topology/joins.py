"""Joins of a group's children: the kinds of join, and the cost of each.

`read_join` turns a level's `join` table into one `Join`; `builders.build` lays out an instance of
it for each group of the level.

    crossbar    a hub, or several side by side; half the latency in, half out
    bus         a hub behind one shared channel; half the latency on the way in, half out
    ring        stops in a circle, both directions; ties go clockwise
    two-rings   two rings and the bridges between them
    ladder      a grid of two rows              quadrants   a 2x2 grid, perhaps with diagonals
    mesh        a grid with holes, or layers of one; ties go x before y before z
    torus       a mesh whose lines of more than two stops close into rings
    all-to-all  a link between any two members  links       the links listed, and no other

Positions come from `map` (see `floorplan.py`), from `size`, or from the order of the members.
`latency` is the time of one crossing (in rings and grids, of one hop); `dx`, `dy`, `dz`, `diagonal`
and `bridge` replace it for hops in one direction. `control_ratio` scales control messages against
data.  `inject` and `eject` are the paths between a member and its stop.
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
    # size of a message with a line, in bytes
    data: int


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
    stands_off = kind in JOINS_WITH_ATTACHMENT
    enter, leave = (costs.attach(k) if stands_off else FREE_COST for k in ("inject", "eject"))
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
    """Returns the directions of a kind of join's hops, and the key that gives each one's
    latency.
    """
    if kind in GRIDS:
        third = {"quadrants": {"diagonal": "diagonal"}, "ladder": {}}.get(kind, {"z": "dz"})
        return {"x": "dx", "y": "dy"} | third
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
