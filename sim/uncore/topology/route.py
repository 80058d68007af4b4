"""Finds routes through a machine's fabric, and estimates the time of a handoff on an idle fabric.

    routes = Routes(machine)
    routes.path(a, b)               link numbers from stop a to stop b; the optional third argument
                                    is the number of the message's line (address over line size)
    routes.message("data", a, b)    ps of an uncontended message: latencies and longest busy time
    nearest_memories(machine, harts)
                                    for each hart, the number of the nearest memory node
    Handoff(machine).estimate(i, j, node=0, slice=0)
                                    ps to move a line from core j to core i

Engines find the same paths with their own code, and tests compare them with this simple code. The
estimate is a closed form for checking numbers by eye, not a simulation: it includes the rules of a
resolver, but no queues, and no cost of a core except `hold`.
"""

from __future__ import annotations

import heapq
from collections.abc import Collection, Sequence
from functools import cached_property
from itertools import pairwise

from uncore.support.splitmix import splitmix
from uncore.topology.machine import Link, Machine, Resolver

MESSAGE_KINDS = ("control", "data", "snoop")
ROUTE_HASHES = 64  # number of values of a route's hash (F1.1)
# Weight of 1 ps, as a number of links; it exceeds the number of links of any route, so that latency
# is compared first.
LATENCY_WEIGHT = 1 << 12


class Routes:
    def __init__(self, machine: Machine) -> None:
        self.links, self.hashed = machine.links, machine.hashed_routes
        self._latencies_to: dict[int, list[int]] = {}
        self._weights_to: dict[int, list[int]] = {}
        self._first_links_to: dict[int, list[list[int]]] = {}
        self._incoming: list[list[int]] = [[] for _ in machine.stops]
        self._outgoing: list[list[int]] = [[] for _ in machine.stops]
        for number, link in enumerate(self.links):
            self._incoming[link.target].append(number)
            self._outgoing[link.source].append(number)

    def distances(self, target: int) -> list[int]:
        """Returns the least summed control latency, in ps, from every stop to `target`."""
        if target not in self._latencies_to:
            self._latencies_to[target] = [
                weight // LATENCY_WEIGHT for weight in self._weights(target)
            ]
        return self._latencies_to[target]

    def _weights(self, target: int) -> list[int]:
        """Returns for each stop the least weight of a route to `target`, or -1 if there is no route
        (Dijkstra's algorithm, backwards).
        """
        if target not in self._weights_to:
            weight_of = [-1] * len(self._incoming)
            waiting = [(0, target)]
            while waiting:
                weight, stop = heapq.heappop(waiting)
                if weight_of[stop] < 0:
                    weight_of[stop] = weight
                    for number in self._incoming[stop]:
                        link = self.links[number]
                        if weight_of[link.source] < 0:
                            heapq.heappush(waiting, (weight + _weight(link), link.source))
            self._weights_to[target] = weight_of
        return self._weights_to[target]

    def path(self, source: int, target: int, line: int | None = None) -> list[int]:
        """Returns the links of the route. If several links of a stop begin a shortest route, the
        lowest-numbered one is taken; if routes are hashed and a line is given, a hash of the line,
        the source and the target selects one of them (F1.1).
        """
        way, steps, path = 0, self._steps(target), list[int]()
        if self.hashed and line is not None:
            way = splitmix(splitmix(splitmix(line) + source) + target) % ROUTE_HASHES
        while source != target:
            equal = steps[source]
            path.append(equal[way % len(equal)])
            way //= len(equal)
            source = self.links[path[-1]].target
        return path

    def among(self, stops: Collection[int]) -> list[int]:
        """Returns the links of all routes between these stops, in ascending order."""
        links: set[int] = set()
        for target in stops:
            steps, visited, waiting = self._steps(target), {target}, list(stops)
            while waiting:
                if (stop := waiting.pop()) not in visited:
                    visited.add(stop)
                    links.update(equal := steps[stop][: None if self.hashed else 1])
                    waiting += [self.links[number].target for number in equal]
        return sorted(links)

    def _steps(self, target: int) -> list[list[int]]:
        """Returns, for each stop, its links that begin a shortest route to `target`."""
        if target not in self._first_links_to:
            weights = self._weights(target)
            self._first_links_to[target] = [
                [number for number in links if self._leads(number, weights)]
                for links in self._outgoing
            ]
        return self._first_links_to[target]

    def _leads(self, number: int, weights: list[int]) -> bool:
        link = self.links[number]
        remaining = weights[link.target]
        return remaining >= 0 and weights[link.source] == _weight(link) + remaining

    def message(self, kind: str, source: int, target: int) -> int:
        path = [self.links[number] for number in self.path(source, target)]
        busy = max((getattr(link, f"{kind}_busy") for link in path), default=0)
        return sum(_head(link, kind) for link in path) + busy


def nearest_memories(machine: Machine, harts: Sequence[int]) -> list[int]:
    """Returns for each hart the nearest memory node, which first touch would choose; of equally
    near nodes, the one with the lowest number.
    """
    routes = Routes(machine)
    distances = [routes.distances(memory.stop) for memory in machine.memories]
    stops = [machine.core_stops[machine.core_of(hart)] for hart in harts]
    return [min(range(len(distances)), key=lambda node: distances[node][stop]) for stop in stops]


def _weight(link: Link) -> int:
    return link.control * LATENCY_WEIGHT + 1


def _head(link: Link, kind: str) -> int:
    assert kind in MESSAGE_KINDS
    return int(getattr(link, kind))


class Handoff:
    """Estimates one transfer of a line in M between two cores that both spin on it, in closed
    form.
    """

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.routes = Routes(machine)

    @cached_property
    def _resolvers_above(self) -> list[list[int]]:
        """The resolvers of which each agent is a child."""
        resolvers_above: list[list[int]] = [
            [] for _ in range(self.machine.cores + len(self.machine.resolvers))
        ]
        for number, resolver in enumerate(self.machine.resolvers):
            for child in resolver.children:
                resolvers_above[child].append(number)
        return resolvers_above

    def chain(self, core: int, node: int) -> list[Resolver]:
        """Returns the resolvers through which a request of `core` for a line of `node` may go, the
        innermost first.
        """
        agent, chain = core, []
        while above := self._resolvers_above[agent]:
            resolvers = [self.machine.resolvers[n] for n in above]
            number = above[node] if resolvers[0].memory >= 0 else above[0]
            chain.append(self.machine.resolvers[number])
            agent = self.machine.cores + number
        return chain

    def estimate(self, i: int, j: int, node: int = 0, slice: int = 0) -> int:
        """Returns the time in ps of one transfer, as the mean of both directions of a ping-pong."""
        chains = self.chain(i, node), self.chain(j, node)
        common = next(r for r in chains[0] if r in chains[1])
        core_stops = self.machine.core_stops[i], self.machine.core_stops[j]
        stop_paths = [
            [
                core_stop,
                *(r.slices[slice % len(r.slices)] for r in chain[: chain.index(common) + 1]),
            ]
            for core_stop, chain in zip(core_stops, chains, strict=True)
        ]
        data = (
            self.routes.message("data", *core_stops)
            + self.routes.message("data", *core_stops[::-1])
        ) / 2
        if common.unblock == "completion":
            round_trip = (
                sum(self._up(way, "control") + self._down(way, "snoop") for way in stop_paths) / 2
            )
            if common.reply == "via":
                data = (
                    sum(self._up(way, "data") + self._down(way, "data") for way in stop_paths) / 2
                )
            return round(data + round_trip) + common.service
        answer = "data" if common.reply == "via" else "control"
        round_trip = sum(self._up(way, answer) + self._down(way, "snoop") for way in stop_paths) / 2
        hold = sum(self.machine.each_core[core].hold for core in (i, j)) / 2
        return round(max(round_trip + common.service, data + hold))

    def _up(self, way: list[int], kind: str) -> int:
        return sum(self.routes.message(kind, a, b) for a, b in pairwise(way))

    def _down(self, way: list[int], kind: str) -> int:
        return self._up(way[::-1], kind)
