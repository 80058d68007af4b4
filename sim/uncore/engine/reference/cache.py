"""A5. A core's private caches: which lines they hold, and which one goes when one is full.

Interface: `CachedLine` is a core's state of one line; `CoreCaches` finds, touches and places lines.
Invariant: a line in the first level is in the second; a line that is written back is in neither,
but stays known until it is forgotten.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from uncore.engine.reference.client import Client
from uncore.engine.reference.contended import Contended
from uncore.engine.reference.time import Bell

if TYPE_CHECKING:
    from uncore.topology.machine import Core as Costs


@dataclass(eq=False)
class CachedLine(Client):
    """One line of a core, and why probes of it may wait."""

    changed: Bell = field(kw_only=True)  # a waiting probe may ask again
    used: int = 0
    probes: int = 0  # that wait here
    held_until: int = 0  # C4
    locked_until: int = 0  # C6
    contended: Contended = field(default_factory=Contended)  # C9


class CoreCaches:
    """Both levels of one core."""

    def __init__(self, costs: Costs) -> None:
        """A5.1: without a second level the first is all there is."""
        self.lines: dict[int, CachedLine] = {}
        first = (costs.l1_sets, costs.l1_ways)
        self.first = CacheLevel(*first)
        self.second = (
            CacheLevel(costs.l2_sets, costs.l2_ways) if costs.l2_sets else CacheLevel(*first)
        )
        self.uses = 0

    def touch(self, line: CachedLine) -> bool:
        """A5.1: the first level is a filter, which a line that is used enters.  Was it there?"""
        self.uses += 1
        line.used = self.uses
        if line in self.first:
            return True
        if displaced := self.first.victim(line, lambda _: True):
            self.first.remove(displaced)
        self.first.add(line)
        return False

    def displace(self, line: CachedLine) -> None:
        """Gives its ways back; it stays known."""
        self.first.remove(line)
        self.second.remove(line)

    def forget(self, line: CachedLine) -> None:
        """Nothing is left to know of it."""
        self.displace(line)
        self.lines.pop(line.line, None)


class CacheLevel:
    """Sets of ways; what is in them."""

    def __init__(self, sets: int, ways: int) -> None:
        self.sets, self.ways = sets, ways
        self.content: dict[int, list[CachedLine]] = defaultdict(list)

    def __contains__(self, line: CachedLine) -> bool:
        return line in self.content[line.line % self.sets]

    def add(self, line: CachedLine) -> None:
        self.content[line.line % self.sets].append(line)

    def remove(self, line: CachedLine) -> None:
        if line in self:
            self.content[line.line % self.sets].remove(line)

    def victim(
        self, incoming: CachedLine, may_go: Callable[[CachedLine], bool]
    ) -> CachedLine | None:
        """A5.2: of a full set the least recently used; where none may go, the set overflows."""
        here = self.content[incoming.line % self.sets]
        if len(here) < self.ways:
            return None
        return min(filter(may_go, here), key=lambda line: line.used, default=None)


def may_go(line: CachedLine, now: int) -> bool:
    """A5.3: it waits for no grant, is not kept from probes (C4, C6), and none waits."""
    until = max(line.held_until, line.locked_until) > now
    return line.protocol.may_evict(line.state) and not line.probes and not until
