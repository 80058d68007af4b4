"""Why an engine's time differs: which of its conventions, taken on here, bring the times together.

    explain(play, theirs, conventions) -> Explained   by ablation, on `native` alone
    held(file, machine) -> [overrides]                what a file and those it extends state

A machine file of topologies/matching states an engine's conventions, a key each.  They are taken on
one at a time (two where no single one helps), each time the one that brings our time nearest to the
engine's, until the ratio of the two is below MAX_MATCHING_RATIO or none helps.  A difference that
none explains is called so.
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

MAX_MATCHING_RATIO = 1.25  # times, either way: what has to be explained
MIN_GAIN_LOG = 0.01  # a change of a ratio's logarithm by less is no gain
HEAD_KEYS = frozenset({"extends", "name", "source"})  # keys of a file that are no conventions
RESOLVER = "system.resolver."  # in a file: of every resolver of the machine
NS = 1000
NO_EVICTION = "32MiB 16-way"  # more than what any job here uses

Overrides = dict[str, str]
Play = Callable[[Overrides], float]  # the time on `native` of the job with these overrides


@dataclass(frozen=True)
class Explained:
    """The conventions taken on, and the engine's time over ours with them."""

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
    best, left = Explained({}, theirs / play({})), list(conventions)
    while not best.within:
        for together in (1, 2):
            nearest = _nearest(play, theirs, best, combinations(left, together))
            if nearest.off <= best.off - MIN_GAIN_LOG:
                break
        else:
            break
        best = nearest
        left = [one for one in left if not one.items() <= best.overrides.items()]
    return _needed(play, theirs, best)


def _needed(play: Play, theirs: float, found: Explained) -> Explained:
    """The same without what is no gain: what the machine is anyway, above all."""
    for key in found.overrides:
        fewer = {k: v for k, v in found.overrides.items() if k != key}
        if (without := _with(play, theirs, fewer)) and without.off < found.off + MIN_GAIN_LOG:
            found = without
    return found


def _nearest(
    play: Play, theirs: float, before: Explained, more: Iterable[Sequence[Overrides]]
) -> Explained:
    """With those of `more` that help most; `before` where none of them can be taken on."""
    tried = [before]
    for conventions in more:
        if one := _with(play, theirs, dict(ChainMap(*conventions, before.overrides))):
            tried.append(one)
    return min(tried, key=lambda one: one.off)


def _with(play: Play, theirs: float, overrides: Overrides) -> Explained | None:
    """None where the machine cannot be so: a bus that knows nothing has no `unblock = response`."""
    try:
        return Explained(overrides, theirs / play(overrides))
    except UserError:
        return None


def held(file: Path, machine: Machine) -> Iterator[Overrides]:
    levels = dict.fromkeys(resolver.level for resolver in machine.resolvers)
    keys = _stated(file)
    ways = {k.removeprefix("system."): v for k, v in keys.items() if k.startswith(RESOLVER)}
    for key, value in keys.items():
        if not key.startswith(RESOLVER):
            yield {key: value}
    for key, value in ways.items():
        yield {f"{level}.{key}": value for level in levels}
    yield from _caches(ways, machine)


def _stated(file: Path) -> Overrides:
    """Overrides that a file states, together with those of the file that it extends in its own
    folder.
    """
    table = tomllib.loads(file.read_text())
    extended = table["extends"]
    above = {} if "/" in extended else _stated(file.with_name(f"{extended}.toml"))
    return above | dict(_flat(table))


def _caches(ways: Overrides, machine: Machine) -> Iterator[Overrides]:
    """A level without data is a cache outside, which takes as long as memory and works as all."""
    data = f"inclusive {NO_EVICTION} {machine.memories[0].latency // NS}ns"
    for level in dict.fromkeys(r.level for r in machine.resolvers if r.data == "none"):
        cache = {"data": data, "resolver.knows": "inclusive"} | ways
        yield {f"{level}.{key}": value for key, value in cache.items()}


def _flat(table: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, str]]:
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{before}{key}.")
        elif key not in HEAD_KEYS:
            yield before + key, str(value)
