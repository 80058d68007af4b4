"""R7.5, R8. The capacity of a resolver: its entries and its data, each in sets of ways.

Invariant: only quiet entries are evicted. A set without quiet entries overflows until it has one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from uncore.engine.reference.entry import Entry
    from uncore.topology.machine import Resolver as Spec


def evict_copy(entry: Entry) -> None:
    """R7.2 to R7.4: evicts this level's copy. If it is dirty, or the level is inclusive, the copies
    below are recalled, too.
    """
    if entry.dirty or entry.resolver.inclusive:
        entry.resolver.capacity.recall(entry)
    else:
        entry.drop()


class Sets:
    """Sets of ways that hold entries."""

    def __init__(self, sets: int, ways: int) -> None:
        self.sets, self.ways = max(1, sets), ways
        self.content: dict[int, list[Entry]] = defaultdict(list)

    def add(self, entry: Entry, evict: Callable[[Entry], None]) -> None:
        """R7.5: gives an entry a way, if it has none. If the set has more entries than ways, evicts
        the least recently used quiet entries.
        """
        entries_of_set = self.content[entry.line % self.sets]
        if entry in entries_of_set:
            return
        entries_of_set.append(entry)
        while len(entries_of_set) > self.ways:
            quiet = (other for other in entries_of_set if other is not entry and other.quiet)
            oldest = min(quiet, key=lambda other: other.last_use, default=None)
            if oldest is None:
                return
            entries_of_set.remove(oldest)
            evict(oldest)

    def remove(self, entry: Entry) -> None:
        entries_of_set = self.content[entry.line % self.sets]
        if entry in entries_of_set:
            entries_of_set.remove(entry)


class Capacity:
    """The capacity of one resolver."""

    def __init__(self, spec: Spec) -> None:
        self.counts_entries = spec.entries > 0
        self.entries = Sets(spec.entries // max(1, spec.ways), spec.ways)
        self.copies = Sets(spec.data_sets, spec.data_ways)
        self.uses = 0

    def keep(self, entry: Entry) -> None:
        """R7.5: stores a copy that has arrived, which may evict another copy."""
        self.use(entry)
        self.copies.add(entry, evict_copy)

    def drop(self, entry: Entry) -> None:
        self.copies.remove(entry)

    def take_entry(self, entry: Entry) -> None:
        """R8.1: gives a request's line a directory entry, which may evict another line's entry."""
        if self.counts_entries:
            self.use(entry)
            self.entries.add(entry, self.recall)

    def recall(self, entry: Entry) -> None:
        """R8.1: starts the recall of an evicted entry, before the request of the line that replaces
        it is handled.
        """
        entry.recalled = True
        entry.news.ring()

    def use(self, entry: Entry) -> None:
        """R8.2: marks an entry as most recently used: a request for it is handled, or its data are
        stored or supplied.
        """
        self.uses += 1
        entry.last_use = self.uses
