"""Ranks lines by the time that harts waited for them, and finds fields that should be separated.

    for cost in costs(observed): ...       costliest first

The gain of separating fields is an estimate: the time waited in *needless* misses (observed.py,
Use), which fetched no value that another core had written.  Fields on lines of their own have no
such misses.  Everything else is assumed to take the same time, though queues elsewhere may grow.

Two groups of fields are worth separating if different harts use them, at least one of the groups
is written, and needless misses occurred.  Only accesses in the region of interest count, unless
there are none.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from msgspec import Struct

from uncore.result.observed import ByteRanges, Line, Observed, Use

OUTSIDE_INTEREST = -2  # kind of a Use outside the region of interest


class FieldGroup(Struct, frozen=True):
    """Fields of one line that have the same readers and the same writers."""

    fields: list[str]
    readers: list[int]
    writers: list[int]


class LineCost(Struct, frozen=True, kw_only=True):
    """The accesses of a cache line and the time that they cost."""

    line: int
    holds: list[str]
    reads: int
    writes: int
    misses: int
    needless: int
    failed_scs: int
    transfers: dict[str, int]
    invalidations: int
    taken: list[tuple[int, int, int]]
    waited_ps: int
    waited_ppm: int  # share of the time of all harts
    needless_ps: int
    apart: list[FieldGroup]  # groups of fields that should not share the line; [] if none
    uses: list[Use]


def costs(observed: Observed) -> list[LineCost]:
    """Returns the costs of every listed line, costliest first."""
    return [_cost(line, observed.hart_ps) for line in observed.lines]


def _cost(line: Line, hart_ps: int) -> LineCost:
    waited, needless = line.sum("waited_ps"), line.sum("needless_ps")
    return LineCost(
        line=line.address,
        holds=list(dict.fromkeys(name for _, _, name in line.fields)),
        reads=line.sum("reads"),
        writes=line.sum("writes"),
        misses=line.sum("misses"),
        needless=line.sum("needless"),
        failed_scs=line.sum("failed_scs"),
        transfers=line.transfers,
        invalidations=line.invalidations,
        taken=line.taken,
        waited_ps=waited,
        waited_ppm=waited * 10**6 // max(hart_ps, 1),
        needless_ps=needless,
        apart=_groups_to_separate(line) if needless else [],
        uses=line.uses,
    )


def _groups_to_separate(line: Line) -> list[FieldGroup]:
    inside = [use for use in line.uses if use.kind != OUTSIDE_INTEREST] or line.uses
    groups: dict[tuple[tuple[int, ...], tuple[int, ...]], list[str]] = defaultdict(list)
    for offset, size, name in line.fields:
        readers = _harts(use for use in inside if _overlaps(use.read, offset, size))
        writers = _harts(use for use in inside if _overlaps(use.written, offset, size))
        if readers or writers:
            groups[readers, writers].append(name)
    users = {readers + writers for readers, writers in groups}
    if len(groups) < 2 or not any(writers for _, writers in groups) or len(users) < 2:
        return []
    return [FieldGroup(names, list(r), list(w)) for (r, w), names in groups.items()]


def _harts(uses: Iterable[Use]) -> tuple[int, ...]:
    return tuple(sorted({hart for use in uses for hart in use.harts}))


def _overlaps(touched: ByteRanges, offset: int, size: int) -> bool:
    return any(start < offset + size and offset < start + length for start, length in touched)
