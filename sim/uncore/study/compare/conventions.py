"""Explains why another engine's times differ from ours by its conventions.

    explain(play, theirs, conventions) -> Explained   by trying conventions on `native`
    held(file, machine) -> [overrides]                conventions that a file states

A convention is one setting of the machine that another engine assumes, such as a latency or a cache
size. Files of topologies/matching state them, one per key. They are added one at a time (two at a
time where no single one helps): each time the one that brings our time nearest to the engine's,
until the ratio of both times is below MAX_MATCHING_RATIO or none helps. Otherwise the difference is
reported as unexplained.
"""

from __future__ import annotations

import math
import tomllib
from collections import ChainMap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

from uncore.errors import UserError
from uncore.topology.machine import Machine

MAX_MATCHING_RATIO = 1.25  # a larger ratio of times, either way, has to be explained
MIN_GAIN_LOG = 0.01  # least decrease of |log(ratio)| that counts as a gain
HEAD_KEYS = frozenset({"extends", "name", "source"})  # keys of a file that are not conventions
RESOLVER_PREFIX = "system.resolver."  # keys with this prefix are for every resolver of the machine
PS_IN_NS = 1000
NO_EVICTION = "32MiB 16-way"  # larger than the data of any job here

Overrides = dict[str, str]
# runs the job with these overrides on `native`; returns its time per operation in ps
Play = Callable[[Overrides], float]


@dataclass(frozen=True)
class Explained:
    """Conventions that were added, and the engine's time over ours with them."""

    overrides: Overrides
    ratio: float

    @property
    def within(self) -> bool:
        return self.off <= math.log(MAX_MATCHING_RATIO)

    @property
    def off(self) -> float:
        return abs(math.log(self.ratio))

    @property
    def words(self) -> str:
        keys = " ".join(f"{key}={value}" for key, value in self.overrides.items())
        return keys if self.within else f"unexplained: {keys or 'no convention helps'}"


def explain(play: Play, theirs: float, conventions: Sequence[Overrides]) -> Explained:
    explained, remaining = Explained({}, theirs / play({})), list(conventions)
    while not explained.within:
        for together in (1, 2):
            nearest = _nearest(play, theirs, explained, combinations(remaining, together))
            if nearest.off <= explained.off - MIN_GAIN_LOG:
                break
        else:
            break
        explained = nearest
        remaining = [
            convention
            for convention in remaining
            if not convention.items() <= explained.overrides.items()
        ]
    return _needed(play, theirs, explained)


def _needed(play: Play, theirs: float, explained: Explained) -> Explained:
    """Returns the explanation without those conventions that gain nothing, such as values that the
    machine has anyway.
    """
    for key in explained.overrides:
        fewer = {k: v for k, v in explained.overrides.items() if k != key}
        if (without := _with(play, theirs, fewer)) and without.off < explained.off + MIN_GAIN_LOG:
            explained = without
    return explained


def _nearest(
    play: Play, theirs: float, before: Explained, more: Iterable[Sequence[Overrides]]
) -> Explained:
    """Adds the one member of `more` that helps most; returns `before` if none helps or none is
    valid.
    """
    candidates = [before]
    for conventions in more:
        if candidate := _with(play, theirs, dict(ChainMap(*conventions, before.overrides))):
            candidates.append(candidate)
    return min(candidates, key=lambda candidate: candidate.off)


def _with(play: Play, theirs: float, overrides: Overrides) -> Explained | None:
    """Measures the ratio with these overrides; None if the machine cannot have them (UserError)."""
    try:
        return Explained(overrides, theirs / play(overrides))
    except UserError:
        return None


def held(file: Path, machine: Machine) -> Iterator[Overrides]:
    levels = dict.fromkeys(resolver.level for resolver in machine.resolvers)
    keys = _stated(file)
    resolver_keys = {
        k.removeprefix("system."): v for k, v in keys.items() if k.startswith(RESOLVER_PREFIX)
    }
    for key, value in keys.items():
        if not key.startswith(RESOLVER_PREFIX):
            yield {key: value}
    for key, value in resolver_keys.items():
        yield {f"{level}.{key}": value for level in levels}
    yield from _caches(resolver_keys, machine)


def _stated(file: Path) -> Overrides:
    """Returns the overrides that a file states, and those of the file in the same folder that it
    extends.
    """
    table = tomllib.loads(file.read_text())
    extended = table["extends"]
    inherited = {} if "/" in extended else _stated(file.with_name(f"{extended}.toml"))
    return inherited | dict(_flat(table))


def _caches(resolver_keys: Overrides, machine: Machine) -> Iterator[Overrides]:
    """Yields overrides that give a level without data a cache as slow as memory, never full."""
    data = f"inclusive {NO_EVICTION} {machine.memories[0].latency // PS_IN_NS}ns"
    for level in dict.fromkeys(r.level for r in machine.resolvers if r.data == "none"):
        cache = {"data": data, "resolver.knows": "inclusive"} | resolver_keys
        yield {f"{level}.{key}": value for key, value in cache.items()}


def _flat(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{key}.")
        elif key not in HEAD_KEYS:
            yield prefix + key, str(value)
