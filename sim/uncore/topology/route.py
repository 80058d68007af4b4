"""Routes through a machine's fabric, and what a handoff should cost on an empty one.

    routes = Routes(machine)
    routes.path(a, b)               link numbers from stop a to stop b; with a third, of a message
                                    about that line, by its address over its size
    routes.message("data", a, b)    ps of an uncontended message: its heads, the slowest wire once
    nearest_memories(machine, harts)    of each hart, the number of the memory node
    Handoff(machine).estimate(i, j, node=0, slice=0)    ps from core j's copy to core i's

Engines find the same paths on their own; this is the plain statement they are compared with.  The
estimate is a closed form for checking numbers by eye, not a simulation: it knows the law of a
resolver, but no queue, and nothing of a core except `hold`.
"""

from __future__ import annotations

import heapq
from collections.abc import Collection, Sequence
from functools import cached_property
from itertools import pairwise

from uncore.support.splitmix import splitmix
from uncore.topology.machine import Link, Machine, Resolver

KINDS = ("control", "data", "snoop")
WAYS = 64  # F1.1
FEWEST = 1 << 12  # links on a route, at most: latency decides first, and their number second


class Routes:
    def __init__(self, machine: Machine) -> None:
        self.links, self.hashed = machine.links, machine.hashed_routes
        self._to: dict[int, list[int]] = {}
        self._far: dict[int, list[int]] = {}
        self._next: dict[int, list[list[int]]] = {}
        self._into: list[list[int]] = [[] for _ in machine.stops]
        self._out: list[list[int]] = [[] for _ in machine.stops]
        for number, link in enumerate(self.links):
            self._into[link.target].append(number)
            self._out[link.source].append(number)

    def distances(self, target: int) -> list[int]:
        """Least summed control latency from every stop to `target`."""
        if target not in self._to:
            self._to[target] = [far // FEWEST for far in self._weights(target)]
        return self._to[target]

    def _weights(self, target: int) -> list[int]:
        """For each stop, the latency and the number of links to `target` (Dijkstra, backwards)."""
        if target not in self._far:
            best = [-1] * len(self._into)
            waiting = [(0, target)]
            while waiting:
                far, stop = heapq.heappop(waiting)
                if best[stop] < 0:
                    best[stop] = far
                    for number in self._into[stop]:
                        link = self.links[number]
                        if best[link.source] < 0:
                            heapq.heappush(waiting, (far + _weight(link), link.source))
            self._far[target] = best
        return self._far[target]

    def path(self, source: int, target: int, line: int | None = None) -> list[int]:
        """Among equal routes each stop takes its lowest-numbered link; where routes are hashed and
        there is a line, the one that a digit of the line's way says (F1.1)."""
        way, steps, path = 0, self._steps(target), list[int]()
        if self.hashed and line is not None:
            way = splitmix(splitmix(splitmix(line) + source) + target) % WAYS
        while source != target:
            equal = steps[source]
            path.append(equal[way % len(equal)])
            way //= len(equal)
            source = self.links[path[-1]].target
        return path

    def among(self, stops: Collection[int]) -> list[int]:
        """The links of all routes between these stops, in order."""
        found: set[int] = set()
        for target in stops:
            steps, seen, waiting = self._steps(target), {target}, list(stops)
            while waiting:
                if (stop := waiting.pop()) not in seen:
                    seen.add(stop)
                    found.update(equal := steps[stop][: None if self.hashed else 1])
                    waiting += [self.links[number].target for number in equal]
        return sorted(found)

    def _steps(self, target: int) -> list[list[int]]:
        """The links of each stop that lie on a shortest route to `target`."""
        if target not in self._next:
            far = self._weights(target)
            self._next[target] = [
                [number for number in links if self._leads(number, far)] for links in self._out
            ]
        return self._next[target]

    def _leads(self, number: int, far: list[int]) -> bool:
        link = self.links[number]
        rest = far[link.target]
        return rest >= 0 and far[link.source] == _weight(link) + rest

    def message(self, kind: str, source: int, target: int) -> int:
        path = [self.links[number] for number in self.path(source, target)]
        busy = max((getattr(link, f"{kind}_busy") for link in path), default=0)
        return sum(_head(link, kind) for link in path) + busy


def nearest_memories(machine: Machine, harts: Sequence[int]) -> list[int]:
    """The node that a first touch by each hart would choose; of equals the lowest."""
    routes = Routes(machine)
    distances = [routes.distances(memory.stop) for memory in machine.memories]
    stops = [machine.core_stops[machine.core_of(hart)] for hart in harts]
    return [min(range(len(distances)), key=lambda node: distances[node][stop]) for stop in stops]


def _weight(link: Link) -> int:
    return link.control * FEWEST + 1


def _head(link: Link, kind: str) -> int:
    assert kind in KINDS
    return int(getattr(link, kind))


class Handoff:
    """Closed forms of one M-to-M transfer between cores that both spin on the line."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.routes = Routes(machine)

    @cached_property
    def _above(self) -> list[list[int]]:
        """For each agent, the resolvers that have it as a child."""
        above: list[list[int]] = [
            [] for _ in range(self.machine.cores + len(self.machine.resolvers))
        ]
        for number, resolver in enumerate(self.machine.resolvers):
            for child in resolver.children:
                above[child].append(number)
        return above

    def chain(self, core: int, node: int) -> list[Resolver]:
        """Resolvers a request of `core` for a line of `node` may meet, inner first."""
        agent, chain = core, []
        while above := self._above[agent]:
            resolvers = [self.machine.resolvers[n] for n in above]
            number = above[node] if resolvers[0].memory >= 0 else above[0]
            chain.append(self.machine.resolvers[number])
            agent = self.machine.cores + number
        return chain

    def estimate(self, i: int, j: int, node: int = 0, slice: int = 0) -> int:
        """The mean of both directions, as a ping-pong between the cores shows it."""
        chains = self.chain(i, node), self.chain(j, node)
        common = next(r for r in chains[0] if r in chains[1])
        seats = self.machine.core_stops[i], self.machine.core_stops[j]
        ways = [
            [seat, *(r.slices[slice % len(r.slices)] for r in chain[: chain.index(common) + 1])]
            for seat, chain in zip(seats, chains, strict=True)
        ]
        data = (self.routes.message("data", *seats) + self.routes.message("data", *seats[::-1])) / 2
        if common.unblock == "completion":
            around = sum(self._up(way, "control") + self._down(way, "snoop") for way in ways) / 2
            if common.reply == "via":
                data = sum(self._up(way, "data") + self._down(way, "data") for way in ways) / 2
            return round(data + around) + common.service
        answer = "data" if common.reply == "via" else "control"
        around = sum(self._up(way, answer) + self._down(way, "snoop") for way in ways) / 2
        hold = sum(self.machine.each_core[core].hold for core in (i, j)) / 2
        return round(max(around + common.service, data + hold))

    def _up(self, way: list[int], kind: str) -> int:
        return sum(self.routes.message(kind, a, b) for a, b in pairwise(way))

    def _down(self, way: list[int], kind: str) -> int:
        return self._up(way[::-1], kind)
