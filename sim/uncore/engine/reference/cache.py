"""A5. A core's private caches: which lines they hold, and which line is evicted from a full set.

Interface: `CachedLine` is a core's state of one line; `CoreCaches` has the lines of both levels.
Invariant: a line in the first level is also in the second. A line that is being written back is in
neither level, but stays in `lines` until `forget`.
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
    """The state of one line in a core, and the times until which its probes wait."""

    changed: Bell = field(kw_only=True)  # rings when a waiting probe may be tried again
    last_use: int = 0  # number of the last use, for the LRU order
    probes: int = 0  # number of probes that wait for this line
    held_until: int = 0  # end of the hold (C4)
    locked_until: int = 0  # end of the atomic that locks the line (C6)
    contended: Contended = field(default_factory=Contended)  # C9


class CoreCaches:
    """Both levels of one core."""

    def __init__(self, costs: Costs) -> None:
        """A5.1: makes both levels; a core without a second level gets one as large as the first."""
        self.lines: dict[int, CachedLine] = {}
        first = (costs.l1_sets, costs.l1_ways)
        self.first = CacheLevel(*first)
        self.second = (
            CacheLevel(costs.l2_sets, costs.l2_ways) if costs.l2_sets else CacheLevel(*first)
        )
        self.uses = 0

    def touch(self, line: CachedLine) -> bool:
        """A5.1: puts an accessed line into the first level. Returns True if it was there already,
        which decides only the latency of the hit.
        """
        self.uses += 1
        line.last_use = self.uses
        if line in self.first:
            return True
        if displaced := self.first.victim(line, lambda _: True):
            self.first.remove(displaced)
        self.first.add(line)
        return False

    def displace(self, line: CachedLine) -> None:
        """Removes the line from both levels; it stays in `lines`."""
        self.first.remove(line)
        self.second.remove(line)

    def forget(self, line: CachedLine) -> None:
        """Removes the line from both levels and from `lines`."""
        self.displace(line)
        self.lines.pop(line.line, None)


class CacheLevel:
    """One cache level: sets of ways, and the lines in them."""

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
        self, incoming: CachedLine, is_evictable: Callable[[CachedLine], bool]
    ) -> CachedLine | None:
        """A5.2: returns the least recently used line that may be evicted from a full set. Returns
        None if the set is not full, or if no line may be evicted; then the set overflows.
        """
        lines_of_set = self.content[incoming.line % self.sets]
        if len(lines_of_set) < self.ways:
            return None
        return min(filter(is_evictable, lines_of_set), key=lambda line: line.last_use, default=None)


def is_evictable(line: CachedLine, now: int) -> bool:
    """A5.3: returns True if a line may be evicted: it does not wait for a grant, it is not held or
    locked (C4, C6), and no probe waits for it.
    """
    is_protected = max(line.held_until, line.locked_until) > now
    return line.protocol.may_evict(line.state) and not line.probes and not is_protected
