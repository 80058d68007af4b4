"""Finds operations of a run that conflict in the sense of the scalable commutativity rule.

    pairs(kinds, lines) -> a Pair for each pair of kinds of operations, in the order of the kinds

The rule (Clements, Kaashoek, Zeldovich, Morris and Kohler, "The Scalable Commutativity Rule:
Designing Scalable Software for Multicore Processors", 2013): if operations commute there is an
implementation whose memory accesses are conflict-free, that is, no core writes a line that another
core reads or writes.  So if two kinds commute by their interface but conflict here, their
implementation can be made to scale.

Only conflicts that occurred in this run are found: a conflict-free pair may conflict in another.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations_with_replacement

from msgspec import Struct

from uncore.result.observed import Shared, Use

# kind of a Use between operations, or in a workload without marked operations
BETWEEN_OPERATIONS = -1


class Meeting(Struct, frozen=True, kw_only=True):
    """A line on which two kinds of operations conflict."""

    line: int
    holds: list[str]
    same_bytes: bool  # False: they used different bytes, which only share the line
    wrote: list[str]  # source lines that wrote the line
    touched: list[str]  # source lines of other harts' operations that read or wrote it


class Pair(Struct, frozen=True, kw_only=True):
    """Two kinds of operations (or one kind, on two harts), and the lines on which they conflict."""

    a: str
    b: str
    conflict_free: bool
    lines: list[Meeting]


def pairs(kinds: Sequence[str], lines: Sequence[Shared]) -> list[Pair]:
    """Returns a Pair for each pair of kinds; without marked operations, all uses are of the first
    kind.
    """
    marked = any(use.kind > BETWEEN_OPERATIONS for line in lines for use in line.uses)
    first_kind = 0 if marked else BETWEEN_OPERATIONS  # value of `Use.kind` for the first kind
    judged_pairs = []
    for a, b in combinations_with_replacement(range(len(kinds)), 2):
        meetings = [_meeting(line, a or first_kind, b or first_kind) for line in lines]
        pair_meetings = [meeting for meeting in meetings if meeting]
        judged_pairs.append(
            Pair(a=kinds[a], b=kinds[b], conflict_free=not pair_meetings, lines=pair_meetings)
        )
    return judged_pairs


def _meeting(line: Shared, a: int, b: int) -> Meeting | None:
    of_a = [use for use in line.uses if use.kind == a]
    of_b = [use for use in line.uses if use.kind == b]
    conflicting_uses = [(w, t) for w in of_a for t in of_b if _conflict(w, t)]
    conflicting_uses += [(w, t) for w in of_b for t in of_a if _conflict(w, t)] if a != b else []
    if not conflicting_uses:
        return None
    used = {
        byte
        for pair in conflicting_uses
        for use in pair
        for byte in _bytes((*use.read, *use.written))
    }
    return Meeting(
        line=line.address,
        holds=[
            name for offset, size, name in line.fields if used & set(range(offset, offset + size))
        ],
        same_bytes=any(
            _bytes(w.written) & _bytes((*t.read, *t.written)) for w, t in conflicting_uses
        ),
        wrote=_places(w for w, _ in conflicting_uses),
        touched=_places(t for _, t in conflicting_uses),
    )


def _conflict(writer: Use, toucher: Use) -> bool:
    """True if one hart wrote the line and another hart read or wrote it."""
    return bool(writer.written) and len({*writer.harts, *toucher.harts}) > 1


def _bytes(runs: Iterable[tuple[int, int]]) -> set[int]:
    return {byte for start, size in runs for byte in range(start, start + size)}


def _places(uses: Iterable[Use]) -> list[str]:
    return sorted({use.source or use.function or f"{use.pc:#x}" for use in uses})
