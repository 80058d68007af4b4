"""F. The fabric: stops joined by links, routes of least latency, channels with bandwidth.

Interface: `send` sends a message; `latency` returns the latency of a message on an otherwise idle
fabric; `way` returns a number that selects one of several equal routes; `route` returns a route,
and `least_latencies` the least latencies to a stop. Invariant: a message takes each channel of its
route when its head reaches it (F3.1), so messages take a channel in the order in which they arrive
at it.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

import numpy
import simpy

from uncore.engine.reference.time import Clock, Rank
from uncore.support.splitmix import splitmix

if TYPE_CHECKING:
    from uncore.topology.machine import Link, Machine

MESSAGE_SIZES = ("control", "data", "snoop")
# Weight of 1 ps, as a number of links; it exceeds the number of links of any route, so that latency
# is compared first.
LINKS_PER_PS = 1 << 12
WAY_COUNT = 64  # number of different values of `way` (F1.1)

Arrived = Callable[[int], None]
Route = tuple["Link", ...]


@dataclass
class Channel:
    """A channel: a medium that one message at a time can use."""

    free_at: int = 0
    busy_time: int = 0
    # Number of messages by size.
    message_counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(MESSAGE_SIZES, 0))


class Fabric:
    """The machine's stops and links."""

    def __init__(self, clock: Clock, machine: Machine) -> None:
        self.clock, self.links = clock, machine.links
        self.hashed = machine.hashed_routes
        self.stops = len(machine.stops)
        self.sources = numpy.array([link.source for link in self.links], dtype=numpy.int64)
        self.targets = numpy.array([link.target for link in self.links], dtype=numpy.int64)
        self.slices = [resolver.slices for resolver in machine.resolvers]
        self.channels = self._channels()
        self.route = cache(self._route)
        self._next = cache(self._next_links)

    def latency(self, source: int, target: int, size: str) -> int:
        """Returns the latency of a message on an otherwise idle fabric."""
        route = self.route(source, target)
        head: int = sum(getattr(link, size) for link in route)
        return head + self.slowest(route, size)

    def least_latencies(self, target: int) -> list[int]:
        """Returns the least time from each stop to the target, over all message sizes. Between
        slices of one resolver the time is 0.
        """
        weights = [min(x.control, x.data, x.snoop) for x in self.links]
        slice_groups = [slices for slices in self.slices if len(slices) > 1]
        sources = [stop for slices in slice_groups for stop in slices]
        targets = [stop for slices in slice_groups for stop in (*slices[1:], slices[0])]
        distances = _distances(
            self.stops,
            target,
            numpy.concatenate([self.sources, numpy.array(sources, dtype=numpy.int64)]),
            numpy.concatenate([self.targets, numpy.array(targets, dtype=numpy.int64)]),
            numpy.array(weights + [0] * len(sources)),
        )
        return [int(time) for time in distances]

    def _route(self, source: int, target: int, way: int = 0) -> Route:
        """F1: returns the links of a route. F1.1: if several links are equal at a stop, a digit of
        `way` selects one.
        """
        route, stop = [], source
        while stop != target:
            links = self._next(target)[stop]
            way, number = divmod(way, len(links))
            route.append(links[number])
            stop = links[number].target
        return tuple(route)

    def _next_links(self, target: int) -> dict[int, list[Link]]:
        """F1: returns, for each stop, the first links of the best routes to the target, in the
        order of their numbers. Best are routes of least control latency, and among these those of
        fewest links.
        """
        weights = numpy.array([link.control * LINKS_PER_PS + 1 for link in self.links])
        distances = _distances(self.stops, target, self.sources, self.targets, weights)
        best = distances[self.sources] == distances[self.targets] + weights
        chosen: dict[int, list[Link]] = {}
        for number in numpy.flatnonzero(best):
            chosen.setdefault(int(self.sources[number]), []).append(self.links[number])
        return chosen

    def way(self, source: int, target: int, line: int) -> int:
        """F1.1: returns the number by which a line's messages choose among equal routes."""
        if not self.hashed:
            return 0
        return splitmix(splitmix(splitmix(line) + source) + target) % WAY_COUNT

    def take(self, link: Link, size: str, head: int) -> int:
        """F3.1: returns when the head of a message enters a link, which is after earlier messages
        have left the link's channel.
        """
        if link.channel < 0:
            return head
        channel, busy = self.channels[link.channel], getattr(link, f"{size}_busy")
        start = max(head, channel.free_at)
        channel.free_at = start + busy
        channel.busy_time += busy
        channel.message_counts[size] += 1
        return start

    def _travel(
        self, size: str, route: Route, head: int, rank: Rank, arrived: Arrived
    ) -> Generator[simpy.Event, None, None]:
        """F3.2: moves the head of a message from link to link, without waiting for its tail."""
        for link in route:
            if link.channel >= 0:
                yield self.clock.at(head, rank)
            head = self.take(link, size, head) + getattr(link, size)
        arrived(head + self.slowest(route, size))

    def slowest(self, route: Iterable[Link], size: str) -> int:
        """F3.3: returns the time from the arrival of the head to that of the whole message: the
        longest busy time of a channel on the route.
        """
        busy = (getattr(link, f"{size}_busy") for link in route if link.channel >= 0)
        return max(busy, default=0)

    def _channels(self) -> list[Channel]:
        """F4: returns the channels, one for each number; links with the same number share one."""
        return [Channel() for _ in range(1 + max(link.channel for link in self.links))]

    def send(self, size: str, route: Route, leaves: int, rank: Rank, arrived: Arrived) -> None:
        """F5: sends a message. Messages travel independently, so messages between one pair of
        agents may overtake each other.

        At the last link, `arrived(time)` is called with the time at which the message will arrive.
        """
        self.clock.process(self._travel(size, route, leaves, rank, arrived))


def _distances(
    stops: int,
    target: int,
    sources: numpy.ndarray,
    targets: numpy.ndarray,
    weights: numpy.ndarray,
) -> numpy.ndarray:
    """Returns the distance from every stop to the target (Bellman-Ford); `sources`, `targets` and
    `weights` describe the links.
    """
    distances = numpy.full(stops, numpy.iinfo(numpy.int64).max // 2)
    distances[target] = 0
    while True:
        shorter = distances.copy()
        numpy.minimum.at(shorter, sources, distances[targets] + weights)
        if (shorter == distances).all():
            return distances
        distances = shorter
