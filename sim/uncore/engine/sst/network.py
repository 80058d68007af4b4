"""A network of SST's merlin for a part of a machine's fabric.

    network(machine, {"l2_0": stop, ...}, among)  -> Network

Merlin has shapes, not graphs (its `anytopo` cannot carry memHierarchy, which begins with a
broadcast).  So the stops between some endpoints are reduced to routers and a shape is recognised:

    router    one stop joins all: a bus, a crossbar, a star        merlin.singlerouter
    ring      the stops form one ring                              merlin.torus of one dimension
    mesh      the stops form a grid without holes                  merlin.mesh
    full      anything else: every pair of stops has a link of its own that takes as long as the
              route between them                                   merlin.hyperx of one dimension

A stop at which one endpoint hangs by one link becomes that endpoint's cable.  So latencies are
those of the machine's routes, in every shape; what `full` loses is that routes share links.

Invariant: routers are numbered as their shape wants them; a wire is (router, port) to
(router, port) with the latency of each direction, in ps, as the machine has it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

from uncore.topology.machine import Link, Machine
from uncore.topology.route import Routes

CONTROL_BYTES, DATA_BYTES = 16, 80  # sizes of messages without and with a line (rule F2)


@dataclass(frozen=True)
class RouterWire:
    """Between two routers: the latency there and back."""

    source: int
    source_port: int
    target: int
    target_port: int
    there: int
    back: int


@dataclass(frozen=True)
class Cable:
    """An endpoint's cable to its router: its latencies up and down."""

    endpoint: str
    router: int
    port: int
    up: int
    down: int


@dataclass(frozen=True)
class Network:
    shape: str  # router, ring, mesh or full
    size: str  # merlin's form: "16", "8x8"
    stops: tuple[int, ...]  # of each router
    wires: tuple[RouterWire, ...]
    cables: tuple[Cable, ...]
    busy: int  # ps that CONTROL_BYTES keep a link: the narrowest of the machine's

    @cached_property
    def local(self) -> int:
        """Ports for endpoints that every router has: as many as the busiest needs."""
        routers = [cable.router for cable in self.cables]
        return max(routers.count(router) for router in set(routers))

    @property
    def ports(self) -> int:
        """The ports of a router."""
        between = {"router": 0, "ring": 2, "mesh": 4, "full": len(self.stops) - 1}
        return between[self.shape] + self.local


def network(machine: Machine, routes: Routes, endpoints: Mapping[str, int]) -> Network:
    """The network that joins the endpoints, each given by its stop."""
    reduced = _Reduced(machine, routes, endpoints)
    shape, size, stops = _shape(reduced)
    first = {"router": 0, "ring": 2, "mesh": 4, "full": len(stops) - 1}[shape]
    taken = dict.fromkeys(stops, first)
    cables = []
    for endpoint, (stop, up, down) in reduced.seats.items():
        cables.append(Cable(endpoint, stops.index(stop), taken[stop], up, down))
        taken[stop] += 1
    wires = _wires(shape, size, stops, routes)
    busy = max((link.data_busy for link in reduced.links), default=0) * CONTROL_BYTES // DATA_BYTES
    return Network(shape, size, stops, wires, tuple(cables), busy)


class _Reduced:
    """The stops and links that lie between the endpoints, without those that are mere cables."""

    def __init__(self, machine: Machine, routes: Routes, endpoints: Mapping[str, int]) -> None:
        self.machine, self.routes = machine, routes
        self.seats = {name: (stop, 0, 0) for name, stop in endpoints.items()}
        at = sorted(set(endpoints.values()))
        self.links: list[Link] = [machine.links[n] for n in routes.among(at)]
        self.neighbours: dict[int, set[int]] = {stop: set() for stop in at}
        for link in self.links:
            self.neighbours.setdefault(link.source, set()).add(link.target)
            self.neighbours.setdefault(link.target, set()).add(link.source)
        while leaf := self._leaf():
            self._make_cable(*leaf)

    def _leaf(self) -> tuple[str, int] | None:
        seated: dict[int, list[str]] = {}
        for name, (stop, _, _) in self.seats.items():
            seated.setdefault(stop, []).append(name)
        for stop, near in sorted(self.neighbours.items()):
            if len(near) == 1 and len(seated.get(stop, [])) == 1:
                return seated[stop][0], stop
        return None

    def _make_cable(self, endpoint: str, stop: int) -> None:
        (inner,) = self.neighbours.pop(stop)
        self.neighbours[inner].discard(stop)
        _, up, down = self.seats[endpoint]
        there = self.routes.distances(inner)[stop]
        back = self.routes.distances(stop)[inner]
        self.seats[endpoint] = (inner, up + there, down + back)


def _shape(reduced: _Reduced) -> tuple[str, str, tuple[int, ...]]:
    """The shape's name, its size, and the stops in the shape's order."""
    near = reduced.neighbours
    stops = tuple(sorted(near))
    if len(stops) == 1:
        return "router", "1", stops
    if ring := _ring(near):
        return "ring", str(len(ring)), ring
    for width in range(2, len(stops) // 2 + 1):
        if len(stops) % width == 0 and _is_grid(near, stops, width):
            return "mesh", f"{width}x{len(stops) // width}", stops
    seated = tuple(sorted({stop for stop, _, _ in reduced.seats.values()}))
    if len(seated) == 1:
        return "router", "1", seated
    return "full", str(len(seated)), seated


def _ring(near: Mapping[int, Collection[int]]) -> tuple[int, ...]:
    """The stops one after the other, or nothing."""
    if len(near) < 3 or any(len(others) != 2 for others in near.values()):
        return ()
    ring = [min(near)]
    ring.append(min(near[ring[0]]))
    while (following := next(s for s in near[ring[-1]] if s != ring[-2])) != ring[0]:
        ring.append(following)
    return tuple(ring) if len(ring) == len(near) else ()


def _is_grid(near: Mapping[int, Collection[int]], stops: tuple[int, ...], width: int) -> bool:
    """Row by row, are the neighbours those of a grid?"""
    return all(
        set(near[stop]) == {stops[n] for n in _beside(position, width, len(stops))}
        for position, stop in enumerate(stops)
    )


def _beside(position: int, width: int, places: int) -> list[int]:
    x = position % width
    sideways = [position + step for step in (1, -1) if 0 <= x + step < width]
    return sideways + [n for n in (position + width, position - width) if 0 <= n < places]


def _wires(shape: str, size: str, stops: tuple[int, ...], routes: Routes) -> tuple[RouterWire, ...]:
    """Ports as merlin numbers them: one dimension's upward port, its downward port, the next's."""
    count = len(stops)
    if shape == "router":
        ends = []
    elif shape == "ring":
        ends = [(a, 0, (a + 1) % count, 1) for a in range(count)]
    elif shape == "mesh":
        width = int(size.partition("x")[0])
        ends = [(a, 0, a + 1, 1) for a in range(count) if (a + 1) % width]
        ends += [(a, 2, a + width, 3) for a in range(count - width)]
    else:
        ends = [(a, b - 1, b, a) for a, b in combinations(range(count), 2)]

    def latency(a: int, b: int) -> int:
        return routes.distances(stops[b])[stops[a]]

    return tuple(RouterWire(a, p, b, q, latency(a, b), latency(b, a)) for a, p, b, q in ends)
