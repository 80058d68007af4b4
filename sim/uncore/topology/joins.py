"""What joins the children of a group: each kind of join as stops, links and sites.

`read_join` turns a level's `join` table into a `Join` once; `Join.build` adds one instance to the
fabric and answers its `Sites`: the stop where each member attaches and at what cost, where slices,
memory port and uplink sit.

    crossbar    a hub; half the latency in, half out
    bus         a hub behind one shared channel; half the latency on the way in, half out
    ring        stops in a circle, both directions; ties go clockwise
    two-rings   two rings and the bridges between them
    ladder      a grid of two rows              quadrants   a 2x2 grid, perhaps with diagonals
    mesh        a grid with holes; ties go x before y
    all-to-all  a link between any two members  links       the links listed, and no other

Positions come from `map` (see `floorplan.py`), from `size`, or from the order of the members.
`latency` is one crossing (of one hop); `dx`, `dy`, `diagonal`, `bridge` say where hops differ.
`control_ratio` scales control messages against data.  `inject` and `eject` are the way between a
member and its stop.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations, pairwise

from uncore.topology.fabric import Cost, Fabric, ps
from uncore.topology.floorplan import Floorplan, Spot, grid_of, parse_map, row_of
from uncore.topology.shorthand import KINDS
from uncore.topology.table import Table
from uncore.topology.tree import Group
from uncore.topology.units import UnitError

ZERO = Fraction(0)
FREE = Cost()
MOST_PAIRS = 256  # members of an all-to-all
GRIDS = ("ladder", "mesh", "quadrants")
PLANNED = ("ring", "two-rings", *GRIDS)
ATTACHED = ("bus", *PLANNED)  # kinds whose members stand off from their stop


@dataclass
class Sites:
    members: list[int]
    slices: list[int]
    memory: int
    uplink: int
    hub: int
    enter: Cost = FREE  # from a member to its stop
    leave: Cost = FREE


@dataclass(frozen=True)
class Messages:
    control: int  # bytes
    data: int


@dataclass
class Join:
    level: str
    kind: str
    table: Table
    enter: Cost
    leave: Cost
    hop: dict[str, Cost] = field(default_factory=dict)  # x y diagonal bridge, or "all"

    def build(self, fabric: Fabric, group: Group) -> Sites:
        return BUILDERS[self.kind](self, fabric, group)

    def refuse(self, key: str, message: str) -> Exception:
        return self.table.wrong(key, f"'{self.table.name(key)}': {message}")


def read_join(table: Table, level: str, messages: Messages) -> Join:
    kind = table.word("kind", KINDS)
    costs = _Costs(table, messages)
    stands_off = kind in ATTACHED
    enter, leave = (costs.attach(k) if stands_off else FREE for k in ("inject", "eject"))
    join = Join(level, kind, table, enter, leave)
    common = table.duration("latency", None) if kind in GRIDS else table.duration("latency")
    for hop, key in _hops(kind).items():
        latency = common if key == "latency" else table.duration(key, None)
        if latency is None and hop == "diagonal":
            continue
        latency = common if latency is None else latency
        if latency is None:
            raise table.absent(key)
        join.hop[hop] = costs.hop(latency)
    table.branch.asked.update(_placing(kind))  # read when a group is built
    return join


def _hops(kind: str) -> dict[str, str]:
    """The kinds of hop of a join, each with its key."""
    if kind in GRIDS:
        return {"x": "dx", "y": "dy"} | ({"diagonal": "diagonal"} if kind == "quadrants" else {})
    return {"all": "latency"} | ({"bridge": "bridge"} if kind == "two-rings" else {})


def _placing(kind: str) -> tuple[str, ...]:
    """The keys that say where things are."""
    if kind in PLANNED:
        return ("map", "memory", "uplink") + (("size",) if kind == "mesh" else ())
    return {"links": ("links",), "crossbar": ("slices",)}.get(kind, ())


@dataclass
class _Costs:
    table: Table
    messages: Messages

    def hop(self, latency: Fraction) -> Cost:
        table = self.table
        ratio = table.share("control_ratio", high=10, default=Fraction(1))
        return self._cost(latency, latency * ratio, table.rate("width", None))

    def attach(self, key: str) -> Cost:
        latency = self.table.duration(key, ZERO)
        return self._cost(latency, latency, self.table.rate("attach_width", None))

    def _cost(self, data: Fraction, control: Fraction, rate: Fraction | None) -> Cost:
        sizes = (self.messages.control, self.messages.data)
        busy = [ps(size / rate) if rate else 0 for size in sizes]
        return Cost(ps(control), ps(data), busy[0], busy[1])


def _floorplan(join: Join, group: Group) -> Floorplan:
    """The map, or the size, or simply the order of the members."""
    table, members = join.table, len(group.children)
    key = "map" if "map" in table else "size"
    try:
        if key == "map":
            return parse_map(table.text("map"), members)
        if join.kind in GRIDS:
            width, height = _size(join, members)
            return grid_of(members, width, height)
    except UnitError as error:
        raise join.refuse(key, str(error)) from None
    if join.kind == "two-rings":
        raise join.refuse("map", "two rings need a map of two lines that share bridges b0, b1")
    return row_of(members)


def _size(join: Join, members: int) -> tuple[int, int]:
    if join.kind == "quadrants":
        return 2, 2
    if join.kind == "ladder":
        return -(-members // 2), 2
    text = join.table.text("size")
    width, _, height = text.partition("x")
    if not (width.isdecimal() and height.isdecimal() and len(text) < 12):
        raise UnitError(f"'{text}' is no size; expected WIDTHxHEIGHT, like 6x5")
    if int(width) * int(height) < members:
        raise UnitError(f"{text} has no room for {members} members; expected a larger size")
    return int(width), int(height)


def _local(group: Group, name: str) -> str:
    return f"{group.path}.{name}" if group.path else name


def _site(join: Join, fabric: Fabric, group: Group, key: str, default: int) -> int:
    """`memory = "q1"`: a named stop of this join."""
    if key not in join.table:
        return default
    name = join.table.text(key)
    if _local(group, name) not in fabric.stops:
        prefix = _local(group, "")
        known = [s.removeprefix(prefix) for s in fabric.stops if s.startswith(prefix)]
        known = known[:16]
        raise join.refuse(key, f"there is no stop '{name}'; known stops are {', '.join(known)}")
    return fabric.stops.index(_local(group, name))


def _hub(join: Join, fabric: Fabric, group: Group) -> Sites:
    hub = fabric.stop(_local(group, "hub"))
    into, out = join.hop["all"].halves()
    slices = [hub] * len(group.children)
    if join.table.word("slices", ("hub", "ports"), "hub") == "ports":
        slices = [fabric.stop(_local(group, f"slice{i}")) for i in range(len(group.children))]
        for stop in slices:
            fabric.wire(stop, hub, into, join.level, out)
    return Sites([hub] * len(group.children), slices, hub, hub, hub, into, out)


def _bus(join: Join, fabric: Fabric, group: Group) -> Sites:
    """Whoever speaks takes the one channel on the way to the hub; everyone hears it from there."""
    hub, channel = fabric.stop(_local(group, "bus")), fabric.channel()
    into, out = join.hop["all"].halves()
    out = Cost(out.control, out.data)
    ports = [fabric.stop(_local(group, f"port{i}")) for i in range(len(group.children))]
    memory = fabric.stop(_local(group, "memory"))
    for stop in (*ports, memory):
        fabric.bus_link(stop, hub, into, join.level, channel)
        fabric.link(hub, stop, out, join.level)
    return Sites(ports, ports, memory, hub, hub, join.enter, join.leave)


def _placed(
    join: Join, fabric: Fabric, group: Group, plan: Floorplan, at: dict[Spot, int]
) -> Sites:
    members = [at[plan.members[i]] for i in range(len(group.children))]
    first = at[plan.spots[0]]
    memory = at[plan.memory] if plan.memory else first
    uplink = at[plan.uplink] if plan.uplink else first
    slices = [at[spot] for spot in plan.slices] or members
    sites = Sites(members, slices, memory, uplink, uplink, join.enter, join.leave)
    sites.memory = _site(join, fabric, group, "memory", memory)
    sites.uplink = sites.hub = _site(join, fabric, group, "uplink", uplink)
    return sites


def _circle(fabric: Fabric, stops: list[int], cost: Cost, level: str) -> None:
    """Clockwise first; two stops need no way round."""
    if len(stops) > 1:
        for a, b in pairwise([*stops, stops[0]]):
            fabric.link(a, b, cost, level)
    if len(stops) > 2:
        for b, a in pairwise([*stops, stops[0]]):
            fabric.link(a, b, cost, level)


def _rings(join: Join, fabric: Fabric, group: Group) -> Sites:
    plan = _floorplan(join, group)
    rows = sorted({y for _, y in plan.spots})
    if len(rows) != (2 if join.kind == "two-rings" else 1):
        raise join.refuse("map", f"expected one line a ring, found {len(rows)} lines")
    width = 1 + max(x for x, _ in plan.spots)
    at = {(x, y): fabric.stop(_local(group, f"s{y * width + x}")) for x, y in plan.spots}
    for row in rows:
        _circle(fabric, [at[s] for s in plan.row(row)], join.hop["all"], join.level)
    for a, b in plan.bridges.values() if join.kind == "two-rings" else ():
        fabric.wire(at[a], at[b], join.hop["bridge"], join.level)
    return _placed(join, fabric, group, plan, at)


def _grid(join: Join, fabric: Fabric, group: Group) -> Sites:
    """Every horizontal wire is numbered before any vertical one: x before y."""
    plan = _floorplan(join, group)
    quadrants = join.kind == "quadrants"
    at = {
        (x, y): fabric.stop(_local(group, f"q{2 * y + x}" if quadrants else f"x{x}y{y}"))
        for x, y in plan.spots
    }
    if quadrants and max(max(spot) for spot in plan.spots) > 1:
        raise join.refuse("map", "quadrants are two lines of two words")
    steps = {"x": [(1, 0)], "y": [(0, 1)], "diagonal": [(1, 1), (-1, 1)]}
    for hop, cost in join.hop.items():
        for (x, y), stop in at.items():
            for dx, dy in steps[hop]:
                if (x + dx, y + dy) in at:
                    fabric.wire(stop, at[x + dx, y + dy], cost, join.level)
    return _placed(join, fabric, group, plan, at)


def _ports(join: Join, fabric: Fabric, group: Group) -> Sites:
    """Members are wired to one another: each is its own stop."""
    stops = []
    for child in group.children:
        own = fabric.ports.get(child.path)
        if own is None:
            own = [fabric.stop(child.path)]
        if len(own) != 1:
            raise join.refuse(
                "kind",
                f"nothing joins the cores of '{child.path}'; give its level a join of its own",
            )
        stops.append(own[0])
    return Sites(stops, stops, stops[0], stops[0], stops[0])


def _all_to_all(join: Join, fabric: Fabric, group: Group) -> Sites:
    sites = _ports(join, fabric, group)
    if len(sites.members) > MOST_PAIRS:
        raise join.refuse("kind", f"all-to-all joins at most {MOST_PAIRS} members")
    for a, b in combinations(sites.members, 2):
        fabric.wire(a, b, join.hop["all"], join.level)
    return sites


def _links(join: Join, fabric: Fabric, group: Group) -> Sites:
    sites = _ports(join, fabric, group)
    leaf = join.table.leaf("links")
    listed = leaf.value if leaf else None
    if not isinstance(listed, list) or not listed or len(listed) > MOST_PAIRS**2:
        raise join.refuse("links", 'expected a list of pairs, like [["die0", "die1"]]')
    for pair in listed:
        if not isinstance(pair, list) or len(pair) != 2:
            raise join.refuse("links", f'{pair!r} is no pair of names, like ["die0", "die1"]')
        a, b = (_end(join, fabric, group, end) for end in pair)
        if a == b:
            raise join.refuse("links", f"{pair!r} joins a stop to itself; expected two ends")
        fabric.wire(a, b, join.hop["all"], join.level)
    return sites


def _end(join: Join, fabric: Fabric, group: Group, end: object) -> int:
    stops = fabric.ports.get(_local(group, str(end)), [])
    if len(stops) == 1:
        return stops[0]
    prefix = _local(group, "")
    known = [name.removeprefix(prefix) for name in fabric.ports if name.startswith(prefix)]
    what = f"has {len(stops)} ports; name one of them" if stops else "names nothing here"
    raise join.refuse("links", f"'{end}' {what}; known ends are {', '.join(known[:16])}")


BUILDERS: dict[str, Callable[[Join, Fabric, Group], Sites]] = {
    "crossbar": _hub,
    "bus": _bus,
    "ring": _rings,
    "two-rings": _rings,
    "ladder": _grid,
    "mesh": _grid,
    "quadrants": _grid,
    "all-to-all": _all_to_all,
    "links": _links,
}
