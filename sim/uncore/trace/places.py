"""Computes the routes of messages: the stops, and the times at which a message is there.

    Places(job).stop(agent, line)            returns the stop of an agent for requests about a line
                                             (A3)
    Places(job).ways(messages, start)        returns the Route of each message

The head of a message waits for the channel of a link, if it is busy, and then passes the link in
the latency of the link; the message is complete when it has arrived (F3).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from uncore.engine.seeded import line_offset
from uncore.job import Job
from uncore.topology.route import Routes
from uncore.trace.words import size_of

SLICE_HASH_MULTIPLIER = 0x9E3779B97F4A7C15  # A3

# The stops; the times in ps at which the head reaches them; the waits in ps for the links between.
Route = list[list[int]]


class Places:
    def __init__(self, job: Job) -> None:
        self.machine, self.slices, self.line_offset = (
            job.machine,
            job.slices,
            line_offset(job),
        )
        self.routes = Routes(job.machine)
        self._paths: dict[tuple[int, int, int], list[int]] = {}

    def stop(self, agent: int, line: int) -> int:
        machine = self.machine
        resolver = agent - machine.cores
        if resolver < 0:
            return machine.core_stops[agent]
        if resolver >= len(machine.resolvers):
            return machine.memories[resolver - len(machine.resolvers)].stop
        slices = machine.resolvers[resolver].slices
        line_hash = (self._number(line) * SLICE_HASH_MULTIPLIER & 2**64 - 1) >> 32
        return slices[(line_hash if self.slices == "hash" else int(self.slices)) % len(slices)]

    def _number(self, line: int) -> int:
        """Returns the number that determines a line's slice and route (A3, F1.1)."""
        return line // self.machine.line + self.line_offset

    def path(self, source: int, target: int, line: int) -> list[int]:
        """Returns the links of a route. `line` is the address of the line, or 0 if the message is
        not about a line.
        """
        key = source, target, self._number(line) if self.routes.hashed and line else 0
        if key not in self._paths:
            self._paths[key] = self.routes.path(source, target, key[2] or None)
        return self._paths[key]

    def ways(self, messages: Iterable[Mapping[str, Any]], start: int) -> list[Route]:
        return [self._way(message, start) for message in messages]

    def _way(self, message: Mapping[str, Any], start: int) -> Route:
        line, size = message["line"], size_of(message)
        ends = (self.stop(message[agent], line) for agent in ("sender", "receiver"))
        waits = dict(zip(message["links"], message["waits"], strict=True))
        source, target = ends
        now = message["sent"] - start
        stops, times, waited = [source], [now], list[int]()
        for number in self.path(source, target, line):
            link = self.machine.links[number]
            waited.append(waits.get(number, 0))
            now += waited[-1] + getattr(link, size)
            stops.append(link.target)
            times.append(now)
        return [stops, times, waited]
