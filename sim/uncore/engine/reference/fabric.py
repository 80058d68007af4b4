"""The fabric: stops joined by links, routes of least control latency, channels with bandwidth.

Interface: `route`, `latency` of a message alone on its way, `send`, and `nearest`, the least time
in which anything reaches a stop.  Invariant: a message takes each channel of its route when its
head reaches it (F3), so the order of messages on a channel is the order of arrival at it, whatever
their senders promised.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy
import simpy

from uncore.engine.reference.time import Clock, Rank

if TYPE_CHECKING:
    from uncore.topology.machine import Link, Machine

FEWEST = 1 << 12  # links on a route, at most: then latency decides first, and their number second


@dataclass
class Channel:
    """A medium that one message at a time uses (F3, F4)."""

    free: int = 0
    used: int = 0

    def take(self, head: int, busy: int) -> int:
        """When the head that reaches it now goes on."""
        start = max(head, self.free)
        self.free = start + busy
        self.used += busy
        return start


@dataclass(frozen=True)
class Target:
    """One of those to whom one message goes."""

    stop: int
    rank: Rank
    arrived: Callable[[int], None]


class Fabric:
    """The machine's stops and links."""

    def __init__(self, clock: Clock, machine: Machine) -> None:
        self.clock, self.links = clock, machine.links
        self.stops = len(machine.stops)
        self.sources = numpy.array([link.source for link in self.links], dtype=numpy.int64)
        self.targets = numpy.array([link.target for link in self.links], dtype=numpy.int64)
        self.channels = [Channel() for _ in range(1 + max(x.channel for x in self.links))]
        self.route = cache(self._route)
        self._next = cache(self._next_links)

    def distances(self, target: int, weights: numpy.ndarray) -> numpy.ndarray:
        """From every stop to the target (Bellman and Ford)."""
        far = numpy.full(self.stops, numpy.iinfo(numpy.int64).max // 2)
        far[target] = 0
        while True:
            shorter = far.copy()
            numpy.minimum.at(shorter, self.sources, far[self.targets] + weights)
            if (shorter == far).all():
                return far
            far = shorter

    def _next_links(self, target: int) -> dict[int, Link]:
        """The link that a message for the target takes at each stop (F1)."""
        weights = numpy.array([link.control * FEWEST + 1 for link in self.links])
        far = self.distances(target, weights)
        best = far[self.sources] == far[self.targets] + weights
        chosen: dict[int, Link] = {}
        for number in numpy.flatnonzero(best):
            chosen.setdefault(int(self.sources[number]), self.links[number])
        return chosen

    def _route(self, source: int, target: int) -> tuple[Link, ...]:
        route, stop = [], source
        while stop != target:
            link = self._next(target)[stop]
            route.append(link)
            stop = link.target
        return tuple(route)

    def latency(self, source: int, target: int, size: str) -> int:
        """Of a message that meets no other."""
        route = self.route(source, target)
        head: int = sum(getattr(link, size) for link in route)
        return head + slowest(route, size)

    def nearest(self, stops: Iterable[int], target: int) -> int | None:
        """The least time from any of the stops but the target itself, by the fastest kind."""
        weights = numpy.array([min(x.control, x.data, x.snoop) for x in self.links])
        far = self.distances(target, weights)
        return min((int(far[stop]) for stop in stops if stop != target), default=None)

    def send(
        self,
        size: str,
        source: int,
        target: int,
        leaves: int,
        rank: Rank,
        arrived: Callable[[int], None],
    ) -> None:
        """Puts a message on its way; `arrived(time)` tells, at the last link, when it will be."""
        self.clock.process(self._travel(size, self.route(source, target), leaves, rank, arrived))

    def _travel(
        self,
        size: str,
        route: tuple[Link, ...],
        head: int,
        rank: Rank,
        arrived: Callable[[int], None],
    ) -> Generator[simpy.Event, None, None]:
        for link in route:
            if link.channel >= 0:
                yield self.clock.at(head, rank)
                head = self.channels[link.channel].take(head, getattr(link, f"{size}_busy"))
            head += getattr(link, size)
        arrived(head + slowest(route, size))

    def send_many(self, source: int, targets: Sequence[Target], leaves: int) -> None:
        """One control message for all (I5)."""
        self._fork(source, targets, leaves, 0)

    def _fork(self, stop: int, targets: Sequence[Target], head: int, busy: int) -> None:
        """Who goes on by the same link with a channel goes on together, the first for all."""
        together: dict[Link | int, list[Target]] = {}
        for number, target in enumerate(targets):
            route = self.route(stop, target.stop)
            met = next((link for link in route if link.channel >= 0), number)
            together.setdefault(met, []).append(target)
        for link, those in together.items():
            route = self.route(stop, those[0].stop)
            if isinstance(link, int):
                those[0].arrived(head + sum(way.control for way in route) + busy)
            else:
                before = route[: route.index(link)]
                reach = head + sum(way.control for way in before)
                self.clock.process(self._pass(link, those, reach, busy))

    def _pass(
        self, link: Link, targets: Sequence[Target], head: int, busy: int
    ) -> Generator[simpy.Event, None, None]:
        yield self.clock.at(head, targets[0].rank)
        head = self.channels[link.channel].take(head, link.control_busy)
        self._fork(link.target, targets, head + link.control, max(busy, link.control_busy))


def slowest(route: Iterable[Link], size: str) -> int:
    """How long after its head the whole message is there: the longest busy time of its route."""
    busy = (getattr(link, f"{size}_busy") for link in route if link.channel >= 0)
    return max(busy, default=0)
