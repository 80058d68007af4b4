"""A core's private caches: which lines they hold, and what goes when one is full (A5).

The second level holds every line of the core; the first is a filter on it that only decides the
time of a hit.  Both evict the least recently used line of a set.

Interface: `Line` is what the client knows of one line; `Cache` finds, touches, settles (gives a way
of the second level) and unsettles lines.  Invariant: a line in the first level is in the second; a
line that is written back is in neither, but stays known until it is forgotten.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from uncore.engine.reference.message import LINE
from uncore.engine.reference.time import Bell

if TYPE_CHECKING:
    from uncore.topology.machine import Core as Costs


@dataclass(eq=False, kw_only=True)
class Words:
    """A line's bytes, as operations see them."""

    data: bytearray = field(default_factory=lambda: bytearray(LINE))

    def read(self, address: int, size: int) -> int:
        """Little-endian, unsigned."""
        return int.from_bytes(self.data[address % LINE :][:size], "little")

    def write(self, address: int, size: int, value: int) -> None:
        """The low bytes of a value."""
        low = value % (1 << 8 * size)
        self.data[address % LINE : address % LINE + size] = low.to_bytes(size, "little")


@dataclass(eq=False)
class Line(Words):
    """One line of a core: its row of the client table, its bytes, and why probes may wait."""

    number: int
    changed: Bell  # a waiting probe may ask again
    state: str = "I"
    request: int = 0  # the newest request's number
    used: int = 0
    held_until: int = 0  # C4
    locked_until: int = 0  # C6
    guarded: bool = False  # locked within the hold: probes wait for it
    asker: int = 0  # the hart that asked for it last
    claimed: bool = False  # it came for that hart, and others wait for it (C9)
    waiting: int = 0  # probes

    def closed_to(self, hart: int) -> bool:
        """Is it another hart's alone for the time being?"""
        return self.claimed and hart != self.asker


class Level:
    """Sets of ways; what is in them."""

    def __init__(self, sets: int, ways: int) -> None:
        self.sets, self.ways = sets, ways
        self.content: dict[int, list[Line]] = defaultdict(list)

    def set_of(self, line: Line) -> list[Line]:
        return self.content[line.number % self.sets]

    def __contains__(self, line: Line) -> bool:
        return line in self.set_of(line)

    def add(self, line: Line) -> None:
        self.set_of(line).append(line)

    def remove(self, line: Line) -> None:
        if line in self:
            self.set_of(line).remove(line)

    def victim(self, incoming: Line, may_go: Callable[[Line], bool]) -> Line | None:
        """Who must go before another comes; where none may, the set overflows for a while."""
        here = self.set_of(incoming)
        if len(here) < self.ways:
            return None
        return min(filter(may_go, here), key=lambda line: line.used, default=None)


class Cache:
    """Both levels of one core; without a second level the first is all there is."""

    def __init__(self, costs: Costs) -> None:
        self.lines: dict[int, Line] = {}
        self.first = Level(costs.l1_sets, costs.l1_ways)
        self.second = (
            Level(costs.l2_sets, costs.l2_ways)
            if costs.l2_sets
            else Level(costs.l1_sets, costs.l1_ways)
        )
        self.uses = 0

    def touch(self, line: Line) -> bool:
        """Uses a line that is here, and brings it into the first level.  Was it there?"""
        self.uses += 1
        line.used = self.uses
        if line in self.first:
            return True
        if displaced := self.first.victim(line, lambda _: True):
            self.first.remove(displaced)
        self.first.add(line)
        return False

    def unsettle(self, line: Line) -> None:
        """Gives its ways back; it stays known."""
        self.first.remove(line)
        self.second.remove(line)

    def forget(self, line: Line) -> None:
        """Nothing is left to know of it."""
        self.unsettle(line)
        del self.lines[line.number]
