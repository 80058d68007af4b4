"""Finds a reordering of accesses that another hart observed, on weakly ordered cores (H8).

    reordered(job) -> Reordered | None      runs the job again, recording the harts' accesses

Two accesses of a hart that are seen out of order matter if a second hart accesses both places and
its accesses lie between: then no interleaving of the two programs explains the values read.  Such a
cycle of conflicting accesses is critical in the sense of Shasha and Snir, "Efficient and correct
execution of parallel programs that share memory" (1988); here it has two harts.  Of several it is
the last before a check failed, or before the end.
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
MAX_ACCESSES_BETWEEN = (
    64  # accesses to shared places that may lie between two that are seen out of order
)
SEARCHED_PS = 50_000_000  # ps before a failure or the end, within which accesses are searched
NEAR_PS = 20_000_000  # largest time between accesses of two harts that are compared
NEVER_SEEN = (1 << 64) - 1  # time of a store that no other hart has seen
FAILURE_FUNCTION = "uc_failed"  # function of the runtime that records a failed check


@dataclass(frozen=True)
class Seen:
    """An access, and the time at which other harts see it."""

    hart: int
    number: int  # number of its instruction
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
        """True if it conflicts with the other access and is seen first."""
        if not (self.writes or other.writes):
            return False
        return self.seen < other.seen or (self.seen == other.seen and self.writes)


@dataclass(frozen=True)
class Reordered:
    """A critical cycle: `second` was seen before `first`, which precedes it in the program.

    `others` are the second hart's accesses.
    """

    first: Seen
    second: Seen
    others: tuple[Seen, Seen]

    @property
    def harts(self) -> tuple[int, int]:
        return self.first.hart, self.others[0].hart

    def last_of(self, hart: int) -> int:
        """Returns the instruction number of the hart's later access in the cycle."""
        return self.second.number if hart == self.first.hart else self.others[1].number


def reordered(job: Job, tick: OnProgress = silent) -> str | None:
    """Runs the job and describes the last reordering that matters, with source lines; None without
    any.

    A run that is stopped early is searched up to that point.
    """
    engine = native.start(job, frozenset({"accesses"}))
    with suppress(GuestError):
        native.run_to_end(engine, tick)
    harts = [
        [Seen(hart, *access) for access in accesses]
        for hart, accesses in enumerate(engine.accesses())
    ]
    failure = _failure(job, harts)
    cycle = _last_cycle(_recent(harts, failure), failure)
    names = Names.of(job.program, engine.read, job.threads[0])
    return _description(job, names, cycle) if cycle else None


def _failure(job: Job, harts: Sequence[Sequence[Seen]]) -> Seen | None:
    """Returns the first recorded access that reports a failed check; Linux programs report none."""
    if job.program.linux:
        return None
    symbol = job.program.symbol(FAILURE_FUNCTION)
    noting = range(symbol.address, symbol.address + symbol.size)
    notes = [next((note for note in hart if note.pc in noting), None) for hart in harts]
    return min((note for note in notes if note), key=lambda note: note.seen, default=None)


def _recent(harts: Sequence[Sequence[Seen]], failure: Seen | None) -> list[list[Seen]]:
    """Returns the accesses seen shortly before the failure or the end.

    Of a waiting loop's equal loads only the last is kept.
    """
    ends = (access.seen for hart in harts for access in hart if access.seen != NEVER_SEEN)
    end = failure.seen if failure and failure.seen != NEVER_SEEN else max(ends, default=0)
    return [
        [
            access
            for access, after in zip_longest(hart, hart[1:])
            if (access.seen >= end - SEARCHED_PS)
            and (after is None or (access.pc, access.word) != (after.pc, after.word))
        ]
        for hart in harts
    ]


def _last_cycle(harts: Sequence[Sequence[Seen]], failure: Seen | None) -> Reordered | None:
    cycles = list(_cycles(harts))
    if failure:
        hart, limit = failure.hart, failure.number
        cycles_of_hart = [
            cycle for cycle in cycles if hart in cycle.harts and cycle.last_of(hart) < limit
        ]
        if cycles_of_hart:
            return max(cycles_of_hart, key=lambda cycle: cycle.last_of(hart))
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
    """Returns the doublewords that several harts access and one of them writes."""
    users: defaultdict[int, set[int]] = defaultdict(set)
    written: set[int] = set()
    for access in (access for hart in harts for access in hart):
        users[access.word].add(access.hart)
        if access.writes:
            written.add(access.word)
    return {word for word in written if len(users[word]) > 1}


def _pairs(hart: Sequence[Seen]) -> Iterator[tuple[Seen, Seen]]:
    """Yields pairs of accesses that are seen in the opposite of program order."""
    for position, second in enumerate(hart):
        for first in hart[max(0, position - MAX_ACCESSES_BETWEEN) : position]:
            if first.seen > second.seen and first.word != second.word:
                yield first, second


def _between(
    first: Seen, second: Seen, at_second: Sequence[Seen], at_first: Sequence[Seen]
) -> tuple[Seen, Seen] | None:
    """Returns the other hart's accesses that close the cycle, or None.

    The first follows `second` at its place, the other precedes `first` at its place.
    """
    before = [
        access
        for access in at_first
        if abs(access.seen - first.seen) < NEAR_PS and access.before(first)
    ]
    behind = [
        access
        for access in at_second
        if abs(access.seen - second.seen) < NEAR_PS and second.before(access)
    ]
    for last in sorted(before, key=lambda access: -access.number):
        for access in sorted(behind, key=lambda access: -access.number):
            if access.number < last.number:
                return access, last
    return None


def _description(job: Job, names: Names, cycle: Reordered) -> str:
    def access(seen: Seen) -> str:
        kind = (
            "atomic on" if seen.reads and seen.writes else "store to" if seen.writes else "load of"
        )
        return f"{kind} {names.at(seen.address)} ({job.program.source_line(seen.pc)})"

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
