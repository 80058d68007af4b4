"""One group's join laid out: stops, links, and the sites of its agents.

`build(join, fabric, group)` adds an instance of the join to the fabric and returns its `Sites`: the
stop where each member attaches and at what cost, where slices, memory port and uplink sit.  What
the kinds of join are and mean is said in `joins.py`; the order in which links are added here is the
tie-break between equal routes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations, pairwise, product
from operator import add

from uncore.topology.fabric import Cost, Fabric
from uncore.topology.floorplan import Floorplan, Spot, grid_of, parse_map, row_of
from uncore.topology.incomplete import JOIN, lacking
from uncore.topology.joins import FREE, Join
from uncore.topology.link import GRIDS
from uncore.topology.tree import TreeGroup
from uncore.topology.units import UnitError

MOST_PAIRS = 256  # members of an all-to-all


@dataclass
class Sites:
    members: list[int]
    slices: list[int]
    memory: int
    uplink: int
    hub: int
    enter: Cost = FREE  # from a member to its stop
    leave: Cost = FREE
    hubs: tuple[int, ...] = ()  # several, to all of which members are wired


def _floorplan(join: Join, group: TreeGroup) -> Floorplan:
    """The map, or the size, or simply the order of the members."""
    table, members = join.table, len(group.children)
    key = "map" if "map" in table else "size"
    try:
        if key == "map":
            return parse_map(table.text("map"), members)
        if join.kind in GRIDS:
            return grid_of(members, *_size(join, members))
    except UnitError as error:
        raise join.refuse(key, str(error)) from None
    if join.kind == "two-rings":
        raise join.refuse("map", "two rings need a map of two lines that share bridges b0, b1")
    return row_of(members)


def _size(join: Join, members: int) -> tuple[int, int, int]:
    """Columns, rows and layers."""
    if join.kind == "quadrants":
        return 2, 2, 1
    if join.kind == "ladder":
        return -(-members // 2), 2, 1
    text = join.table.text("size")
    sides = text.split("x")
    if len(sides) not in (2, 3) or not all(side.isdecimal() and len(side) < 6 for side in sides):
        raise UnitError(f"'{text}' is no size; expected WIDTHxHEIGHT, like 6x5, or 4x4x2 in layers")
    width, height, layers = (*map(int, sides), 1)[:3]
    if width * height * layers < members:
        raise UnitError(f"{text} has no room for {members} members; expected a larger size")
    if layers > 1 and "z" not in join.hop:
        raise UnitError(f"{text} has layers; expected dz, or latency, beside it")
    return width, height, layers


def local(group: TreeGroup, name: str) -> str:
    """The path of a stop of a group."""
    return f"{group.path}.{name}" if group.path else name


def _site(join: Join, fabric: Fabric, group: TreeGroup, key: str, default: int) -> int:
    """`memory = "q1"`: a named stop of this join."""
    if key not in join.table:
        return default
    name = join.table.text(key)
    if local(group, name) not in fabric.stops:
        prefix = local(group, "")
        sites = [s.removeprefix(prefix) for s in fabric.stops if s.startswith(prefix)]
        sites = sites[:16]
        raise join.refuse(key, f"there is no stop '{name}'; known stops are {', '.join(sites)}")
    return fabric.stops.index(local(group, name))


def _hub(join: Join, fabric: Fabric, group: TreeGroup) -> Sites:
    many, members = join.table.count("hubs"), len(group.children)
    names = [f"hub{n}" for n in range(many)] if many > 1 else ["hub"]
    hubs = [fabric.stop(local(group, name)) for name in names]
    into, out = join.hop["all"].halves()
    slices = [hubs[i % many] for i in range(members)]
    if join.table.word("slices") == "ports":
        slices = [fabric.stop(local(group, f"slice{i}")) for i in range(members)]
        for stop, hub in product(slices, hubs):
            fabric.wire(stop, hub, into, join.level, out)
    first, several = hubs[0], tuple(hubs) if many > 1 else ()
    return Sites([first] * members, slices, first, first, first, into, out, several)


def _bus(join: Join, fabric: Fabric, group: TreeGroup) -> Sites:
    """Whoever speaks takes the one channel on the way to the hub; everyone hears it from there."""
    hub, channel = fabric.stop(local(group, "bus")), fabric.channel()
    into, out = join.hop["all"].halves()
    out = Cost(out.control, out.data)
    ports = [fabric.stop(local(group, f"port{i}")) for i in range(len(group.children))]
    memory = fabric.stop(local(group, "memory"))
    for stop in (*ports, memory):
        fabric.bus_link(stop, hub, into, join.level, channel)
        fabric.link(hub, stop, out, join.level)
    return Sites(ports, ports, memory, hub, hub, join.enter, join.leave)


def _placed(
    join: Join, fabric: Fabric, group: TreeGroup, plan: Floorplan, at: dict[Spot, int]
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


def _rings(join: Join, fabric: Fabric, group: TreeGroup) -> Sites:
    plan = _floorplan(join, group)
    rows = sorted({y for _, y in plan.spots})
    if len(rows) != (2 if join.kind == "two-rings" else 1):
        raise join.refuse("map", f"expected one line a ring, found {len(rows)} lines")
    width = 1 + max(x for x, _ in plan.spots)
    at = {(x, y): fabric.stop(local(group, f"s{y * width + x}")) for x, y in plan.spots}
    for row in rows:
        _circle(fabric, [at[s] for s in plan.row(row)], join.hop["all"], join.level)
    for a, b in plan.bridges.values() if join.kind == "two-rings" else ():
        fabric.wire(at[a], at[b], join.hop["bridge"], join.level)
    return _placed(join, fabric, group, plan, at)


def _grid(join: Join, fabric: Fabric, group: TreeGroup) -> Sites:
    """Every wire along x is numbered before any along y, and these before those along z."""
    plan = _floorplan(join, group)
    quadrants = join.kind == "quadrants"
    if quadrants and max(max(spot) for spot in plan.spots) > 1:
        raise join.refuse("map", "quadrants are two lines of two words")
    width, height = (1 + max(spot[axis] for spot in plan.spots) for axis in (0, 1))
    rows = height // plan.layers

    def name(x: int, y: int, z: int) -> str:
        return f"q{2 * y + x}" if quadrants else f"x{x}y{y}" + f"z{z}" * (plan.layers > 1)

    at = {spot: (spot[0], spot[1] % rows, spot[1] // rows) for spot in plan.spots}
    stops = {where: fabric.stop(local(group, name(*where))) for where in at.values()}
    steps = {"x": [(1, 0, 0)], "y": [(0, 1, 0)], "z": [(0, 0, 1)]}
    steps["diagonal"] = [(1, 1, 0), (-1, 1, 0)]
    # On a torus a step leads beyond the last stop to the first; two stops need no way round.
    around = [
        side if join.kind == "torus" and side > 2 else 0 for side in (width, rows, plan.layers)
    ]
    for hop, cost in join.hop.items():
        for where, stop in stops.items():
            for step in steps[hop]:
                sums = map(add, where, step)
                beside = tuple(
                    s % side if side else s for s, side in zip(sums, around, strict=True)
                )
                if beside in stops:
                    fabric.wire(stop, stops[beside], cost, join.level)
    return _placed(join, fabric, group, plan, {spot: stops[where] for spot, where in at.items()})


def _ports(join: Join, fabric: Fabric, group: TreeGroup) -> Sites:
    """Members are wired to one another: each is its own stop."""
    stops = []
    for child in group.children:
        own = fabric.ports.get(child.path)
        if own is None:
            own = [fabric.stop(child.path)]
        if len(own) > 1 and local(child, "hub0") in fabric.stops:
            raise join.refuse(
                "kind", f"'{child.path}' has several hubs; expected a crossbar above them"
            )
        if len(own) != 1:
            raise lacking(
                join.table.branch.items["kind"].place,
                f"'{join.table.name('kind')}': nothing joins the cores of '{child.path}'; give its"
                " level a join of its own",
                {f"{child.level}.join": JOIN},
            )
        stops.append(own[0])
    return Sites(stops, stops, stops[0], stops[0], stops[0])


def _all_to_all(join: Join, fabric: Fabric, group: TreeGroup) -> Sites:
    sites = _ports(join, fabric, group)
    if len(sites.members) > MOST_PAIRS:
        raise join.refuse("kind", f"all-to-all joins at most {MOST_PAIRS} members")
    for a, b in combinations(sites.members, 2):
        fabric.wire(a, b, join.hop["all"], join.level)
    return sites


def _links(join: Join, fabric: Fabric, group: TreeGroup) -> Sites:
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


def _end(join: Join, fabric: Fabric, group: TreeGroup, end: object) -> int:
    stops = fabric.ports.get(local(group, str(end)), [])
    if len(stops) == 1:
        return stops[0]
    prefix = local(group, "")
    ports = [name.removeprefix(prefix) for name in fabric.ports if name.startswith(prefix)]
    what = f"has {len(stops)} ports; name one of them" if stops else "names nothing here"
    raise join.refuse("links", f"'{end}' {what}; known ends are {', '.join(ports[:16])}")


BUILDERS: dict[str, Callable[[Join, Fabric, TreeGroup], Sites]] = {
    "crossbar": _hub,
    "bus": _bus,
    "ring": _rings,
    "two-rings": _rings,
    "ladder": _grid,
    "mesh": _grid,
    "torus": _grid,
    "quadrants": _grid,
    "all-to-all": _all_to_all,
    "links": _links,
}


def build(join: Join, fabric: Fabric, group: TreeGroup) -> Sites:
    return BUILDERS[join.kind](join, fabric, group)
