"""Finds a reordering of accesses that another hart observed, on weakly ordered cores (H8).

    describe_reordering(job) -> str | None      runs the job again, recording the harts' accesses

Two accesses of a hart that are seen out of order matter if a second hart accesses both words and
its accesses are seen between them: then no interleaving of the two programs explains the values
read.  Such a cycle of conflicting accesses is critical in the sense of Shasha and Snir, "Efficient
and correct execution of parallel programs that share memory" (1988); here it involves two harts.
The function reports the last cycle before a check failed, or before the end of the run.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING

from uncore.engine import ignore_progress, native
from uncore.errors import GuestError
from uncore.program.names import Names

if TYPE_CHECKING:
    from uncore.engine.limits import OnProgress
    from uncore.job import Job

WORD_BYTES = 8
MAX_ACCESSES_BETWEEN = (
    64  # accesses to shared places that may lie between two that are seen out of order
)
SEARCHED_PS = 50_000_000  # accesses are searched in this time before a failure or the end
NEAR_PS = 20_000_000  # maximum time between accesses of two harts that are compared
NEVER_SEEN = (1 << 64) - 1  # time of a store that no other hart has seen
FAILURE_FUNCTION = "uc_failed"  # function of the runtime that records a failed check


@dataclass(frozen=True)
class ObservedAccess:
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

    def before(self, other: ObservedAccess) -> bool:
        """True if it conflicts with the other access and is seen first."""
        if not (self.writes or other.writes):
            return False
        return self.seen < other.seen or (self.seen == other.seen and self.writes)


@dataclass(frozen=True)
class ReorderedCycle:
    """A critical cycle: `second` was seen before `first`, which precedes it in the program.

    `others` are the second hart's accesses.
    """

    first: ObservedAccess
    second: ObservedAccess
    others: tuple[ObservedAccess, ObservedAccess]

    @property
    def harts(self) -> tuple[int, int]:
        return self.first.hart, self.others[0].hart

    def last_of(self, hart: int) -> int:
        """Returns the instruction number of the hart's later access in the cycle."""
        return self.second.number if hart == self.first.hart else self.others[1].number


def describe_reordering(job: Job, tick: OnProgress = ignore_progress) -> str | None:
    """Runs the job and describes the last reordering that matters, with source lines; returns None
    if there is none.

    If the run fails or is stopped at a limit, the accesses up to that time are searched.
    """
    engine = native.start(job, frozenset({"accesses"}))
    with suppress(GuestError):
        native.run_to_end(engine, tick)
    harts = [
        [ObservedAccess(hart, *access) for access in accesses]
        for hart, accesses in enumerate(engine.accesses())
    ]
    failure = _failure(job, harts)
    cycle = _last_cycle(_recent(harts, failure), failure)
    names = Names.of(job.program, engine.read, job.threads[0])
    return _description(job, names, cycle) if cycle else None


def _failure(job: Job, harts: Sequence[Sequence[ObservedAccess]]) -> ObservedAccess | None:
    """Returns the first recorded access that reports a failed check; Linux programs report none."""
    if job.program.linux:
        return None
    symbol = job.program.symbol(FAILURE_FUNCTION)
    failure_code = range(symbol.address, symbol.address + symbol.size)
    reports = [
        next((report for report in hart if report.pc in failure_code), None) for hart in harts
    ]
    return min(
        (report for report in reports if report), key=lambda report: report.seen, default=None
    )


def _recent(
    harts: Sequence[Sequence[ObservedAccess]], failure: ObservedAccess | None
) -> list[list[ObservedAccess]]:
    """Returns the accesses that were seen shortly before the failure or the end. Of the equal loads
    of a waiting loop it keeps only the last.
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


def _last_cycle(
    harts: Sequence[Sequence[ObservedAccess]], failure: ObservedAccess | None
) -> ReorderedCycle | None:
    cycles = list(_cycles(harts))
    if failure:
        hart, limit = failure.hart, failure.number
        cycles_of_hart = [
            cycle for cycle in cycles if hart in cycle.harts and cycle.last_of(hart) < limit
        ]
        if cycles_of_hart:
            return max(cycles_of_hart, key=lambda cycle: cycle.last_of(hart))
    return max(cycles, key=lambda cycle: cycle.second.seen, default=None)


def _cycles(harts: Sequence[Sequence[ObservedAccess]]) -> Iterator[ReorderedCycle]:
    shared = _shared_doublewords(harts)
    accesses_of: defaultdict[tuple[int, int], list[ObservedAccess]] = defaultdict(list)
    users: defaultdict[int, set[int]] = defaultdict(set)
    shared_only = [[access for access in hart if access.word in shared] for hart in harts]
    for access in (access for hart in shared_only for access in hart):
        accesses_of[access.hart, access.word].append(access)
        users[access.word].add(access.hart)
    for hart in shared_only:
        for first, second in _pairs(hart):
            for other in sorted(users[first.word] & users[second.word] - {first.hart}):
                others = _closing_accesses(
                    first, second, accesses_of[other, second.word], accesses_of[other, first.word]
                )
                if others:
                    yield ReorderedCycle(first, second, others)


def _shared_doublewords(harts: Sequence[Sequence[ObservedAccess]]) -> set[int]:
    """Returns the doublewords that several harts access and one of them writes."""
    users: defaultdict[int, set[int]] = defaultdict(set)
    written: set[int] = set()
    for access in (access for hart in harts for access in hart):
        users[access.word].add(access.hart)
        if access.writes:
            written.add(access.word)
    return {word for word in written if len(users[word]) > 1}


def _pairs(hart: Sequence[ObservedAccess]) -> Iterator[tuple[ObservedAccess, ObservedAccess]]:
    """Yields pairs of accesses that were seen in the reverse of their program order."""
    for position, second in enumerate(hart):
        for first in hart[max(0, position - MAX_ACCESSES_BETWEEN) : position]:
            if first.seen > second.seen and first.word != second.word:
                yield first, second


def _closing_accesses(
    first: ObservedAccess,
    second: ObservedAccess,
    at_second: Sequence[ObservedAccess],
    at_first: Sequence[ObservedAccess],
) -> tuple[ObservedAccess, ObservedAccess] | None:
    """Returns the other hart's accesses that close the cycle, or None.

    The first of them follows `second` on the same word, the other precedes `first` on its word.
    """
    candidates_before = [
        access
        for access in at_first
        if abs(access.seen - first.seen) < NEAR_PS and access.before(first)
    ]
    candidates_after = [
        access
        for access in at_second
        if abs(access.seen - second.seen) < NEAR_PS and second.before(access)
    ]
    for last in sorted(candidates_before, key=lambda access: -access.number):
        for access in sorted(candidates_after, key=lambda access: -access.number):
            if access.number < last.number:
                return access, last
    return None


def _description(job: Job, names: Names, cycle: ReorderedCycle) -> str:
    def access(seen: ObservedAccess) -> str:
        kind = (
            "atomic on" if seen.reads and seen.writes else "store to" if seen.writes else "load of"
        )
        return f"{kind} {names.at(seen.address)} ({job.program.source_line(seen.pc)})"

    lead_time = (
        ""
        if cycle.first.seen == NEVER_SEEN
        else f" {(cycle.first.seen - cycle.second.seen) / 1000:.1f} ns"
    )
    return (
        f"out of order: hart {cycle.first.hart}'s {access(cycle.second)} was seen{lead_time}"
        f" before its {access(cycle.first)}, which stands first; hart {cycle.others[0].hart} had"
        f" {access(cycle.others[0])}, then {access(cycle.others[1])}"
    )
