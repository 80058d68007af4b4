"""R7.5, R8. What a resolver has room for: entries and data, in sets of ways.

Invariant: only quiet entries are evicted; where none is quiet a set overflows for a while.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from uncore.engine.reference.entry import Entry
    from uncore.topology.machine import Resolver as Spec


def evict_copy(entry: Entry) -> None:
    """R7.2 to R7.4: dirty data go with the copies below; so do all of an inclusive level."""
    if entry.dirty or entry.resolver.inclusive:
        entry.resolver.capacity.recall(entry)
    else:
        entry.drop()


class Sets:
    """Ways that lines take."""

    def __init__(self, sets: int, ways: int) -> None:
        self.sets, self.ways = max(1, sets), ways
        self.content: dict[int, list[Entry]] = defaultdict(list)

    def add(self, entry: Entry, evict: Callable[[Entry], None]) -> None:
        """R7.5: gives it a way, if it has none; then the least recently used quiet ones go."""
        here = self.content[entry.line % self.sets]
        if entry in here:
            return
        here.append(entry)
        while len(here) > self.ways:
            quiet = (other for other in here if other is not entry and other.quiet)
            oldest = min(quiet, key=lambda other: other.used, default=None)
            if oldest is None:
                return
            here.remove(oldest)
            evict(oldest)

    def remove(self, entry: Entry) -> None:
        here = self.content[entry.line % self.sets]
        if entry in here:
            here.remove(entry)


class Capacity:
    """One resolver's."""

    def __init__(self, spec: Spec) -> None:
        self.counts_entries = spec.entries > 0
        self.entries = Sets(spec.entries // max(1, spec.ways), spec.ways)
        self.copies = Sets(spec.data_sets, spec.data_ways)
        self.uses = 0

    def keep(self, entry: Entry) -> None:
        """R7.5: a copy has come, and may displace another."""
        self.use(entry)
        self.copies.add(entry, evict_copy)

    def drop(self, entry: Entry) -> None:
        self.copies.remove(entry)

    def take_entry(self, entry: Entry) -> None:
        """R8.1: a request whose line has no entry takes one, and may cost another its own."""
        if self.counts_entries:
            self.use(entry)
            self.entries.add(entry, self.recall)

    def recall(self, entry: Entry) -> None:
        """R8.1: before anything that the line in its place sets in motion."""
        entry.recalled = True
        entry.news.ring()

    def use(self, entry: Entry) -> None:
        """R8.2: a request acts, or data are kept or supplied."""
        self.uses += 1
        entry.used = self.uses
