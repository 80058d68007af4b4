"""Lays out one group's join: its stops, its links, and the stops of its agents.

`build(join, fabric, group)` adds one instance of the join to the fabric and returns its `Sites`:
the stop to which each member is linked, the cost of that link, and the stops of slices, memory port
and uplink. `joins.py` describes the kinds of join. Links are added in an order that matters,
because it breaks ties between equal routes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations, pairwise, product
from operator import add

from uncore.topology.fabric import Cost, Fabric
from uncore.topology.floorplan import Floorplan, Spot, grid_of, parse_map, row_of
from uncore.topology.incomplete import EXAMPLE_JOIN, lacking
from uncore.topology.joins import FREE_COST, Join
from uncore.topology.link import GRIDS
from uncore.topology.tree import TreeGroup
from uncore.topology.units import UnitError

MAX_ALL_TO_ALL_MEMBERS = 256


@dataclass
class Sites:
    """The stops of one join, by their indices."""

    # a stop for each member and each slice, and the stops of the memory port, the uplink, the hub
    members: list[int]
    slices: list[int]
    memory: int
    uplink: int
    hub: int
    enter: Cost = FREE_COST  # cost from a member to its stop
    # cost from a stop to its member
    leave: Cost = FREE_COST
    # hubs of a crossbar that has several hubs, each of which is linked to every member
    hubs: tuple[int, ...] = ()


def _floorplan(join: Join, group: TreeGroup) -> Floorplan:
    """Returns the floorplan that `map` draws, or the grid of `size`, or otherwise one row."""
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
    """Returns columns, rows and layers. Raises a UnitError if they have fewer than `members`
    spots.
    """
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


def path_of_stop(group: TreeGroup, name: str) -> str:
    """Returns the full path of a group's stop: the group's path and the stop's own name."""
    return f"{group.path}.{name}" if group.path else name


def _site(join: Join, fabric: Fabric, group: TreeGroup, key: str, default: int) -> int:
    """Returns the stop of this join that `key` names (`memory = "q1"`); `default` if the key is
    absent.
    """
    if key not in join.table:
        return default
    name = join.table.text(key)
    if path_of_stop(group, name) not in fabric.stops:
        prefix = path_of_stop(group, "")
        sites = [s.removeprefix(prefix) for s in fabric.stops if s.startswith(prefix)]
        sites = sites[:16]
        raise join.refuse(key, f"there is no stop '{name}'; known stops are {', '.join(sites)}")
    return fabric.stops.index(path_of_stop(group, name))


def _hub(join: Join, fabric: Fabric, group: TreeGroup) -> Sites:
    hub_count, members = join.table.count("hubs"), len(group.children)
    names = [f"hub{n}" for n in range(hub_count)] if hub_count > 1 else ["hub"]
    hubs = [fabric.stop(path_of_stop(group, name)) for name in names]
    to_hub, from_hub = join.hop["all"].halves()
    slices = [hubs[i % hub_count] for i in range(members)]
    if join.table.word("slices") == "ports":
        slices = [fabric.stop(path_of_stop(group, f"slice{i}")) for i in range(members)]
        for stop, hub in product(slices, hubs):
            fabric.wire(stop, hub, to_hub, join.level, from_hub)
    first, several = hubs[0], tuple(hubs) if hub_count > 1 else ()
    return Sites([first] * members, slices, first, first, first, to_hub, from_hub, several)


def _bus(join: Join, fabric: Fabric, group: TreeGroup) -> Sites:
    """Lays out a bus. All agents send to the hub over one shared channel, and the hub sends to each
    agent over a separate link.
    """
    hub, channel = fabric.stop(path_of_stop(group, "bus")), fabric.channel()
    to_hub, from_hub = join.hop["all"].halves()
    from_hub = Cost(from_hub.control, from_hub.data)
    ports = [fabric.stop(path_of_stop(group, f"port{i}")) for i in range(len(group.children))]
    memory = fabric.stop(path_of_stop(group, "memory"))
    for stop in (*ports, memory):
        fabric.bus_link(stop, hub, to_hub, join.level, channel)
        fabric.link(hub, stop, from_hub, join.level)
    return Sites(ports, ports, memory, hub, hub, join.enter, join.leave)


def _sites_of(
    join: Join, fabric: Fabric, group: TreeGroup, plan: Floorplan, stop_at: dict[Spot, int]
) -> Sites:
    members = [stop_at[plan.members[i]] for i in range(len(group.children))]
    first = stop_at[plan.spots[0]]
    memory = stop_at[plan.memory] if plan.memory else first
    uplink = stop_at[plan.uplink] if plan.uplink else first
    slices = [stop_at[spot] for spot in plan.slices] or members
    sites = Sites(members, slices, memory, uplink, uplink, join.enter, join.leave)
    sites.memory = _site(join, fabric, group, "memory", memory)
    sites.uplink = sites.hub = _site(join, fabric, group, "uplink", uplink)
    return sites


def _link_ring(fabric: Fabric, stops: list[int], cost: Cost, level: str) -> None:
    """Adds the clockwise links, then the counterclockwise ones. Two stops need only one link in
    each direction.
    """
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
    stop_at = {(x, y): fabric.stop(path_of_stop(group, f"s{y * width + x}")) for x, y in plan.spots}
    for row in rows:
        _link_ring(fabric, [stop_at[s] for s in plan.row(row)], join.hop["all"], join.level)
    for a, b in plan.bridges.values() if join.kind == "two-rings" else ():
        fabric.wire(stop_at[a], stop_at[b], join.hop["bridge"], join.level)
    return _sites_of(join, fabric, group, plan, stop_at)


def _grid(join: Join, fabric: Fabric, group: TreeGroup) -> Sites:
    """Lays out a grid. Links along x are numbered before those along y, and these before those
    along z.
    """
    plan = _floorplan(join, group)
    is_quadrants = join.kind == "quadrants"
    if is_quadrants and max(max(spot) for spot in plan.spots) > 1:
        raise join.refuse("map", "quadrants are two lines of two words")
    width, height = (1 + max(spot[axis] for spot in plan.spots) for axis in (0, 1))
    rows = height // plan.layers

    def name(x: int, y: int, z: int) -> str:
        return f"q{2 * y + x}" if is_quadrants else f"x{x}y{y}" + f"z{z}" * (plan.layers > 1)

    stop_at = {spot: (spot[0], spot[1] % rows, spot[1] // rows) for spot in plan.spots}
    stops = {
        position: fabric.stop(path_of_stop(group, name(*position))) for position in stop_at.values()
    }
    steps = {"x": [(1, 0, 0)], "y": [(0, 1, 0)], "z": [(0, 0, 1)]}
    steps["diagonal"] = [(1, 1, 0), (-1, 1, 0)]
    # On a torus, a step from the last stop of a line leads to its first. A line of two stops needs
    # no such link. 0 means that a line is not closed.
    ring_sizes = [
        side if join.kind == "torus" and side > 2 else 0 for side in (width, rows, plan.layers)
    ]
    for hop, cost in join.hop.items():
        for position, stop in stops.items():
            for step in steps[hop]:
                sums = map(add, position, step)
                neighbour = tuple(
                    s % side if side else s for s, side in zip(sums, ring_sizes, strict=True)
                )
                if neighbour in stops:
                    fabric.wire(stop, stops[neighbour], cost, join.level)
    return _sites_of(
        join, fabric, group, plan, {spot: stops[position] for spot, position in stop_at.items()}
    )


def _ports(join: Join, fabric: Fabric, group: TreeGroup) -> Sites:
    """Returns the stops of the members, which this join links directly to one another."""
    stops = []
    for child in group.children:
        child_stops = fabric.ports.get(child.path)
        if child_stops is None:
            child_stops = [fabric.stop(child.path)]
        if len(child_stops) > 1 and path_of_stop(child, "hub0") in fabric.stops:
            raise join.refuse(
                "kind", f"'{child.path}' has several hubs; expected a crossbar above them"
            )
        if len(child_stops) != 1:
            raise lacking(
                join.table.branch.items["kind"].place,
                f"'{join.table.name('kind')}': nothing joins the cores of '{child.path}'; give its"
                " level a join of its own",
                {f"{child.level}.join": EXAMPLE_JOIN},
            )
        stops.append(child_stops[0])
    return Sites(stops, stops, stops[0], stops[0], stops[0])


def _all_to_all(join: Join, fabric: Fabric, group: TreeGroup) -> Sites:
    sites = _ports(join, fabric, group)
    if len(sites.members) > MAX_ALL_TO_ALL_MEMBERS:
        raise join.refuse("kind", f"all-to-all joins at most {MAX_ALL_TO_ALL_MEMBERS} members")
    for a, b in combinations(sites.members, 2):
        fabric.wire(a, b, join.hop["all"], join.level)
    return sites


def _links(join: Join, fabric: Fabric, group: TreeGroup) -> Sites:
    sites = _ports(join, fabric, group)
    leaf = join.table.leaf("links")
    pairs = leaf.value if leaf else None
    if not isinstance(pairs, list) or not pairs or len(pairs) > MAX_ALL_TO_ALL_MEMBERS**2:
        raise join.refuse("links", 'expected a list of pairs, like [["die0", "die1"]]')
    for pair in pairs:
        if not isinstance(pair, list) or len(pair) != 2:
            raise join.refuse("links", f'{pair!r} is no pair of names, like ["die0", "die1"]')
        a, b = (_end(join, fabric, group, end) for end in pair)
        if a == b:
            raise join.refuse("links", f"{pair!r} joins a stop to itself; expected two ends")
        fabric.wire(a, b, join.hop["all"], join.level)
    return sites


def _end(join: Join, fabric: Fabric, group: TreeGroup, end: object) -> int:
    stops = fabric.ports.get(path_of_stop(group, str(end)), [])
    if len(stops) == 1:
        return stops[0]
    prefix = path_of_stop(group, "")
    ports = [name.removeprefix(prefix) for name in fabric.ports if name.startswith(prefix)]
    problem = f"has {len(stops)} ports; name one of them" if stops else "names nothing here"
    raise join.refuse("links", f"'{end}' {problem}; known ends are {', '.join(ports[:16])}")


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
