"""Finds operations that conflict: the question of the scalable commutativity rule, asked of a run.

    pairs(kinds, lines) -> one Pair for each two kinds of operations, in the order of the kinds

The rule (Clements, Kaashoek, Zeldovich, Morris and Kohler, "The Scalable Commutativity Rule:
Designing Scalable Software for Multicore Processors", 2013): where operations commute there is an
implementation whose memory accesses are conflict-free, that is, no core writes a line that another
core reads or writes.  So two kinds that commute by their interface and conflict here are an
implementation that can be made to scale.

A run shows the conflicts it met: that a pair is conflict-free holds for the run, not for all runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations_with_replacement

from msgspec import Struct

from uncore.result.observed import Shared, Use

BETWEEN = -1  # kind of a Use between operations, or where none are marked


class Meeting(Struct, frozen=True, kw_only=True):
    """One line on which two kinds of operations meet."""

    line: int
    holds: list[str]
    same_bytes: bool  # false: it is the layout alone that makes them meet
    wrote: list[str]  # source lines that wrote it
    touched: list[str]  # source lines of other harts' operations that read or wrote it


class Pair(Struct, frozen=True, kw_only=True):
    """Two kinds of operations, or one with itself on another hart."""

    a: str
    b: str
    conflict_free: bool
    lines: list[Meeting]


def pairs(kinds: Sequence[str], lines: Sequence[Shared]) -> list[Pair]:
    """A Pair for each two kinds of operations; unmarked operations are of the first kind."""
    marked = any(use.kind > BETWEEN for line in lines for use in line.uses)
    first = 0 if marked else BETWEEN  # the number by which uses name the first kind
    met_pairs = []
    for a, b in combinations_with_replacement(range(len(kinds)), 2):
        meetings = [_meeting(line, a or first, b or first) for line in lines]
        met = [meeting for meeting in meetings if meeting]
        met_pairs.append(Pair(a=kinds[a], b=kinds[b], conflict_free=not met, lines=met))
    return met_pairs


def _meeting(line: Shared, a: int, b: int) -> Meeting | None:
    of_a = [use for use in line.uses if use.kind == a]
    of_b = [use for use in line.uses if use.kind == b]
    met = [(w, t) for w in of_a for t in of_b if _conflict(w, t)]
    met += [(w, t) for w in of_b for t in of_a if _conflict(w, t)] if a != b else []
    if not met:
        return None
    used = {byte for pair in met for use in pair for byte in _bytes((*use.read, *use.written))}
    return Meeting(
        line=line.address,
        holds=[n for at, size, n in line.fields if used & set(range(at, at + size))],
        same_bytes=any(_bytes(w.written) & _bytes((*t.read, *t.written)) for w, t in met),
        wrote=_places(w for w, _ in met),
        touched=_places(t for _, t in met),
    )


def _conflict(writer: Use, toucher: Use) -> bool:
    """True if one hart wrote something that another touched."""
    return bool(writer.written) and len({*writer.harts, *toucher.harts}) > 1


def _bytes(runs: Iterable[tuple[int, int]]) -> set[int]:
    return {byte for start, size in runs for byte in range(start, start + size)}


def _places(uses: Iterable[Use]) -> list[str]:
    return sorted({use.source or use.function or f"{use.pc:#x}" for use in uses})
