"""Finds a reordering that another hart observed, in a run on weakly ordered cores (H8).

    reordered(job) -> Reordered | None      the job's run again, with what its harts saw

Two accesses of a hart that are seen in the other order matter where a second hart accesses both
places and its accesses lie between: then no interleaving of the two programs explains what was
read.  Such a cycle of conflicting accesses is critical in the sense of Shasha and Snir, "Efficient
and correct execution of parallel programs that share memory" (1988); here it has two harts.  Of
several it is the last before a check failed, or before the end.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING

from uncore.engine import native, silent
from uncore.errors import GuestError
from uncore.program.names import Names

if TYPE_CHECKING:
    from uncore.engine.limits import OnProgress
    from uncore.job import Job

WORD_BYTES = 8
WINDOW = 64  # accesses to shared places that lie between two that are seen out of order, at most
LOOKED_AT = 50_000_000  # ps before a failure, or the end
NEAR_PS = 20_000_000  # largest time between accesses of two harts that are compared
NEVER_SEEN = (1 << 64) - 1  # time at which a store is seen that nobody has seen
FAILED = "uc_failed"  # the runtime's function that notes a failed check


@dataclass(frozen=True)
class Seen:
    """An access, and when it was seen."""

    hart: int
    number: int  # of its instruction
    pc: int
    address: int
    size: int
    reads: bool
    writes: bool
    seen: int

    @property
    def word(self) -> int:
        return self.address // WORD_BYTES

    def before(self, other: Seen) -> bool:
        """Conflicts with the other, and is seen first."""
        if not (self.writes or other.writes):
            return False
        return self.seen < other.seen or (self.seen == other.seen and self.writes)


@dataclass(frozen=True)
class Reordered:
    """`second` was seen before `first`, which stands before it; `others` are the second hart's."""

    first: Seen
    second: Seen
    others: tuple[Seen, Seen]

    @property
    def harts(self) -> tuple[int, int]:
        return self.first.hart, self.others[0].hart

    def last_of(self, hart: int) -> int:
        """The number of the hart's later access."""
        return self.second.number if hart == self.first.hart else self.others[1].number


def reordered(job: Job, tick: OnProgress = silent) -> str | None:
    """In words, with the source's lines; of a run that is given up, until then."""
    engine = native.start(job, frozenset({"accesses"}))
    with suppress(GuestError):
        native.to_its_end(engine, tick)
    harts = [
        [Seen(hart, *access) for access in accesses]
        for hart, accesses in enumerate(engine.accesses())
    ]
    failure = _failure(job, harts)
    cycle = _last(_recent(harts, failure), failure)
    names = Names.of(job.program, engine.read, job.threads[0])
    return _said(job, names, cycle) if cycle else None


def _failure(job: Job, harts: Sequence[Sequence[Seen]]) -> Seen | None:
    """The first access of those that are kept that notes a failed check; a program of Linux notes
    none.
    """
    if job.program.linux:
        return None
    symbol = job.program.symbol(FAILED)
    noting = range(symbol.address, symbol.address + symbol.size)
    notes = [next((note for note in hart if note.pc in noting), None) for hart in harts]
    return min((note for note in notes if note), key=lambda note: note.seen, default=None)


def _recent(harts: Sequence[Sequence[Seen]], failure: Seen | None) -> list[list[Seen]]:
    """Accesses seen shortly before the failure or the end; of a waiting loop's equal loads only the
    last.
    """
    ends = (access.seen for hart in harts for access in hart if access.seen != NEVER_SEEN)
    end = failure.seen if failure and failure.seen != NEVER_SEEN else max(ends, default=0)
    return [
        [
            access
            for access, after in zip_longest(hart, hart[1:])
            if (access.seen >= end - LOOKED_AT)
            and (after is None or (access.pc, access.word) != (after.pc, after.word))
        ]
        for hart in harts
    ]


def _last(harts: Sequence[Sequence[Seen]], failure: Seen | None) -> Reordered | None:
    cycles = list(_cycles(harts))
    if failure:
        hart, limit = failure.hart, failure.number
        mine = [cycle for cycle in cycles if hart in cycle.harts and cycle.last_of(hart) < limit]
        if mine:
            return max(mine, key=lambda cycle: cycle.last_of(hart))
    return max(cycles, key=lambda cycle: cycle.second.seen, default=None)


def _cycles(harts: Sequence[Sequence[Seen]]) -> Iterator[Reordered]:
    shared = _shared(harts)
    places: defaultdict[tuple[int, int], list[Seen]] = defaultdict(list)
    users: defaultdict[int, set[int]] = defaultdict(set)
    shared_only = [[access for access in hart if access.word in shared] for hart in harts]
    for access in (access for hart in shared_only for access in hart):
        places[access.hart, access.word].append(access)
        users[access.word].add(access.hart)
    for hart in shared_only:
        for first, second in _pairs(hart):
            for other in sorted(users[first.word] & users[second.word] - {first.hart}):
                others = _between(
                    first, second, places[other, second.word], places[other, first.word]
                )
                if others:
                    yield Reordered(first, second, others)


def _shared(harts: Sequence[Sequence[Seen]]) -> set[int]:
    """Doublewords of several harts, of which one writes."""
    users: defaultdict[int, set[int]] = defaultdict(set)
    written: set[int] = set()
    for access in (access for hart in harts for access in hart):
        users[access.word].add(access.hart)
        if access.writes:
            written.add(access.word)
    return {word for word in written if len(users[word]) > 1}


def _pairs(hart: Sequence[Seen]) -> Iterator[tuple[Seen, Seen]]:
    """Pairs of accesses that are seen in the other order."""
    for position, second in enumerate(hart):
        for first in hart[max(0, position - WINDOW) : position]:
            if first.seen > second.seen and first.word != second.word:
                yield first, second


def _between(
    first: Seen, second: Seen, there: Sequence[Seen], here: Sequence[Seen]
) -> tuple[Seen, Seen] | None:
    """The other hart's access to the second's place, behind it, and to the first's, before it."""
    before = [
        access
        for access in here
        if abs(access.seen - first.seen) < NEAR_PS and access.before(first)
    ]
    behind = [
        access
        for access in there
        if abs(access.seen - second.seen) < NEAR_PS and second.before(access)
    ]
    for last in sorted(before, key=lambda access: -access.number):
        for access in sorted(behind, key=lambda access: -access.number):
            if access.number < last.number:
                return access, last
    return None


def _said(job: Job, names: Names, cycle: Reordered) -> str:
    def access(seen: Seen) -> str:
        what = (
            "atomic on" if seen.reads and seen.writes else "store to" if seen.writes else "load of"
        )
        return f"{what} {names.at(seen.address)} ({job.program.source_line(seen.pc)})"

    early = (
        ""
        if cycle.first.seen == NEVER_SEEN
        else f" {(cycle.first.seen - cycle.second.seen) / 1000:.1f} ns"
    )
    return (
        f"out of order: hart {cycle.first.hart}'s {access(cycle.second)} was seen{early}"
        f" before its {access(cycle.first)}, which stands first; hart {cycle.others[0].hart} had"
        f" {access(cycle.others[0])}, then {access(cycle.others[1])}"
    )
