"""Reduces a part of a machine's fabric to a network of SST's merlin.

    network(machine, routes, {"l2_0": stop, ...})  -> Network

Merlin has shapes, not graphs (its `anytopo` cannot carry memHierarchy, which begins with a
broadcast).  So the stops between some endpoints are reduced to routers, and their shape is
recognised:

    router    one stop joins all: a bus, a crossbar, a star        merlin.singlerouter
    ring      the stops form one ring                              merlin.torus of one dimension
    mesh      the stops form a grid without holes                  merlin.mesh
    full      anything else: every pair of stops has its own link, with the latency of the
              route between them                                   merlin.hyperx of one dimension

A stop with one endpoint and one neighbour becomes that endpoint's cable.  In every shape, latencies
are those of the machine's routes.  In `full`, however, routes no longer share links.

Invariant: routers have the numbers that their shape requires; a wire leads from (router, port) to
(router, port) with the machine's latency in each direction, in ps.
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
    """A wire between two routers, with its latency in ps in each direction."""

    source: int
    source_port: int
    target: int
    target_port: int
    latency_to_target: int
    latency_to_source: int


@dataclass(frozen=True)
class Cable:
    """An endpoint's cable to its router, with its latencies up and down in ps."""

    endpoint: str
    router: int
    port: int
    up: int
    down: int


@dataclass(frozen=True)
class Network:
    shape: str  # router, ring, mesh or full
    size: str  # in merlin's form: "16", "8x8"
    stops: tuple[int, ...]  # the stop of each router
    wires: tuple[RouterWire, ...]
    cables: tuple[Cable, ...]
    busy: int  # ps for which CONTROL_BYTES occupy the machine's narrowest link

    @cached_property
    def local(self) -> int:
        """Number of ports for endpoints on every router, which suffices for the router with the
        most endpoints.
        """
        routers = [cable.router for cable in self.cables]
        return max(routers.count(router) for router in set(routers))

    @property
    def ports(self) -> int:
        """Number of ports of a router."""
        ports_to_routers = {"router": 0, "ring": 2, "mesh": 4, "full": len(self.stops) - 1}
        return ports_to_routers[self.shape] + self.local


def network(machine: Machine, routes: Routes, endpoints: Mapping[str, int]) -> Network:
    """Returns the network that joins the endpoints, given by their stops."""
    reduced = _ReducedNetwork(machine, routes, endpoints)
    shape, size, stops = _shape(reduced)
    first_port = {"router": 0, "ring": 2, "mesh": 4, "full": len(stops) - 1}[shape]
    next_port = dict.fromkeys(stops, first_port)
    cables = []
    for endpoint, (stop, up, down) in reduced.attachments.items():
        cables.append(Cable(endpoint, stops.index(stop), next_port[stop], up, down))
        next_port[stop] += 1
    wires = _wires(shape, size, stops, routes)
    busy = max((link.data_busy for link in reduced.links), default=0) * CONTROL_BYTES // DATA_BYTES
    return Network(shape, size, stops, wires, tuple(cables), busy)


class _ReducedNetwork:
    """The stops and links between the endpoints, without stops that were replaced by cables."""

    def __init__(self, machine: Machine, routes: Routes, endpoints: Mapping[str, int]) -> None:
        self.machine, self.routes = machine, routes
        self.attachments = {name: (stop, 0, 0) for name, stop in endpoints.items()}
        stops = sorted(set(endpoints.values()))
        self.links: list[Link] = [machine.links[n] for n in routes.among(stops)]
        self.neighbours: dict[int, set[int]] = {stop: set() for stop in stops}
        for link in self.links:
            self.neighbours.setdefault(link.source, set()).add(link.target)
            self.neighbours.setdefault(link.target, set()).add(link.source)
        while leaf := self._leaf():
            self._make_cable(*leaf)

    def _leaf(self) -> tuple[str, int] | None:
        endpoints_at: dict[int, list[str]] = {}
        for name, (stop, _, _) in self.attachments.items():
            endpoints_at.setdefault(stop, []).append(name)
        for stop, neighbours in sorted(self.neighbours.items()):
            if len(neighbours) == 1 and len(endpoints_at.get(stop, [])) == 1:
                return endpoints_at[stop][0], stop
        return None

    def _make_cable(self, endpoint: str, stop: int) -> None:
        (inner,) = self.neighbours.pop(stop)
        self.neighbours[inner].discard(stop)
        _, up, down = self.attachments[endpoint]
        to_inner = self.routes.distances(inner)[stop]
        from_inner = self.routes.distances(stop)[inner]
        self.attachments[endpoint] = (inner, up + to_inner, down + from_inner)


def _shape(reduced: _ReducedNetwork) -> tuple[str, str, tuple[int, ...]]:
    """Returns the shape's name, its size, and the stops in the shape's order."""
    neighbours = reduced.neighbours
    stops = tuple(sorted(neighbours))
    if len(stops) == 1:
        return "router", "1", stops
    if ring := _ring(neighbours):
        return "ring", str(len(ring)), ring
    for width in range(2, len(stops) // 2 + 1):
        if len(stops) % width == 0 and _is_grid(neighbours, stops, width):
            return "mesh", f"{width}x{len(stops) // width}", stops
    stops_with_endpoints = tuple(sorted({stop for stop, _, _ in reduced.attachments.values()}))
    if len(stops_with_endpoints) == 1:
        return "router", "1", stops_with_endpoints
    return "full", str(len(stops_with_endpoints)), stops_with_endpoints


def _ring(neighbours: Mapping[int, Collection[int]]) -> tuple[int, ...]:
    """Returns the stops in the order of a ring, or () if they form none."""
    if len(neighbours) < 3 or any(
        len(neighbour_stops) != 2 for neighbour_stops in neighbours.values()
    ):
        return ()
    ring = [min(neighbours)]
    ring.append(min(neighbours[ring[0]]))
    while (next_stop := next(s for s in neighbours[ring[-1]] if s != ring[-2])) != ring[0]:
        ring.append(next_stop)
    return tuple(ring) if len(ring) == len(neighbours) else ()


def _is_grid(neighbours: Mapping[int, Collection[int]], stops: tuple[int, ...], width: int) -> bool:
    """True if the stops, row by row, have the neighbours of a grid."""
    return all(
        set(neighbours[stop]) == {stops[n] for n in _grid_neighbours(position, width, len(stops))}
        for position, stop in enumerate(stops)
    )


def _grid_neighbours(position: int, width: int, stop_count: int) -> list[int]:
    x = position % width
    neighbours_in_row = [position + step for step in (1, -1) if 0 <= x + step < width]
    return neighbours_in_row + [
        n for n in (position + width, position - width) if 0 <= n < stop_count
    ]


def _wires(shape: str, size: str, stops: tuple[int, ...], routes: Routes) -> tuple[RouterWire, ...]:
    """Returns the wires, with merlin's port numbers: in each dimension, the port to the next router
    has the number before that of the port to the previous router.
    """
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
