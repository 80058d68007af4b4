"""Explains differences between another engine's times and ours by the conventions of that engine.

    explain(play, their_ps, conventions) -> Explanation     tries the conventions on `native`
    stated(file, machine) -> [overrides]                  conventions that a file states

A convention is one setting of the machine that another engine assumes, such as a latency or a cache
size. Files of topologies/matching state them, one per key. `explain` adds one convention at a time
(two if no single one helps): the one that brings our time nearest to the other engine's time. It
stops when the ratio of both times is below MAX_MATCHING_RATIO, or when no convention helps; then
the difference is reported as unexplained.
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

MAX_MATCHING_RATIO = 1.25  # a larger ratio of times (or its inverse) has to be explained
MIN_GAIN_LOG = 0.01  # least decrease of |log(ratio)| that counts as a gain
HEAD_KEYS = frozenset({"extends", "name", "source"})  # keys of a file that are not conventions
RESOLVER_PREFIX = "system.resolver."  # keys with this prefix apply to every resolver
PS_IN_NS = 1000
NO_EVICTION = "32MiB 16-way"  # larger than the data of any job here

Overrides = dict[str, str]
# Runs the job with these overrides on `native`; returns its time per operation in ps.
Play = Callable[[Overrides], float]


@dataclass(frozen=True)
class Explanation:
    """The conventions that were added, and the other engine's time over ours with them."""

    overrides: Overrides
    ratio: float

    @property
    def matches(self) -> bool:
        return self.log_error <= math.log(MAX_MATCHING_RATIO)

    @property
    def log_error(self) -> float:
        return abs(math.log(self.ratio))

    @property
    def words(self) -> str:
        keys = " ".join(f"{key}={value}" for key, value in self.overrides.items())
        return keys if self.matches else f"unexplained: {keys or 'no convention helps'}"


def explain(play: Play, their_ps: float, conventions: Sequence[Overrides]) -> Explanation:
    explained, remaining = Explanation({}, their_ps / play({})), list(conventions)
    while not explained.matches:
        for count in (1, 2):
            nearest = _best_addition(play, their_ps, explained, combinations(remaining, count))
            if nearest.log_error <= explained.log_error - MIN_GAIN_LOG:
                break
        else:
            break
        explained = nearest
        remaining = [
            convention
            for convention in remaining
            if not convention.items() <= explained.overrides.items()
        ]
    return _without_useless(play, their_ps, explained)


def _without_useless(play: Play, their_ps: float, explained: Explanation) -> Explanation:
    """Removes the conventions that gain nothing, for example values that the machine has anyway."""
    for key in explained.overrides:
        fewer = {k: v for k, v in explained.overrides.items() if k != key}
        without = _explained_by(play, their_ps, fewer)
        if without and without.log_error < explained.log_error + MIN_GAIN_LOG:
            explained = without
    return explained


def _best_addition(
    play: Play, their_ps: float, current: Explanation, additions: Iterable[Sequence[Overrides]]
) -> Explanation:
    """Adds to `current` the one of `additions` that helps most; returns `current` if none helps or
    none is valid.
    """
    candidates = [current]
    for conventions in additions:
        overrides = dict(ChainMap(*conventions, current.overrides))
        if candidate := _explained_by(play, their_ps, overrides):
            candidates.append(candidate)
    return min(candidates, key=lambda candidate: candidate.log_error)


def _explained_by(play: Play, their_ps: float, overrides: Overrides) -> Explanation | None:
    """Runs the job with these overrides; returns None if they are invalid for the machine."""
    try:
        return Explanation(overrides, their_ps / play(overrides))
    except UserError:
        return None


def stated(file: Path, machine: Machine) -> Iterator[Overrides]:
    levels = dict.fromkeys(resolver.level for resolver in machine.resolvers)
    keys = _overrides_of(file)
    resolver_keys = {
        k.removeprefix("system."): v for k, v in keys.items() if k.startswith(RESOLVER_PREFIX)
    }
    for key, value in keys.items():
        if not key.startswith(RESOLVER_PREFIX):
            yield {key: value}
    for key, value in resolver_keys.items():
        yield {f"{level}.{key}": value for level in levels}
    yield from _caches(resolver_keys, machine)


def _overrides_of(file: Path) -> Overrides:
    """Returns the overrides that a file states, and those of the file that it extends if that is in
    the same folder.
    """
    table = tomllib.loads(file.read_text())
    extended = table["extends"]
    inherited = {} if "/" in extended else _overrides_of(file.with_name(f"{extended}.toml"))
    return inherited | dict(_flat(table))


def _caches(resolver_keys: Overrides, machine: Machine) -> Iterator[Overrides]:
    """Yields overrides that give a level without data a cache that is as slow as memory and never
    full.
    """
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
