"""Why an engine's time differs: which of its conventions, taken on here, bring the times together.

    explain(play, theirs, conventions) -> Explained   by ablation, on `native` alone
    held(file, machine) -> [overrides]                what a file states of a machine

A machine file of topologies/matching states an engine's conventions, a key each.  They are taken on
one at a time, each time the one that brings our time nearest to the engine's, until the two are
less than APART from each other or none helps.  What no convention explains is called so.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from uncore.errors import UserError
from uncore.topology.machine import Machine

APART = 1.25  # times, either way: what has to be explained
GAIN = 0.01  # of a ratio's logarithm: less is no gain
HEAD = frozenset({"extends", "name", "source"})  # of a file: no conventions
RESOLVER = "system.resolver."  # in a file: of every resolver of the machine

Overrides = dict[str, str]
Play = Callable[[Overrides], float]  # the time on `native` of the job with these overrides


@dataclass(frozen=True)
class Explained:
    """The conventions taken on, and the engine's time over ours with them."""

    overrides: Overrides
    ratio: float

    @property
    def within(self) -> bool:
        return self.off <= math.log(APART)

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
        tried = [
            (one, convention)
            for convention in left
            if (one := _tried(play, theirs, best, convention))
        ]
        if not tried:
            break
        nearest, convention = min(tried, key=lambda pair: pair[0].off)
        if nearest.off > best.off - GAIN:
            break
        best = nearest
        left.remove(convention)
    return best


def _tried(play: Play, theirs: float, before: Explained, convention: Overrides) -> Explained | None:
    """With one more; None where the machine cannot be so: a bus has no `unblock = "response"`."""
    overrides = before.overrides | convention
    try:
        return Explained(overrides, theirs / play(overrides))
    except UserError:
        return None


def held(file: Path, machine: Machine) -> Iterator[Overrides]:
    levels = dict.fromkeys(resolver.level for resolver in machine.resolvers)
    for key, value in _flat(tomllib.loads(file.read_text())):
        name = key.removeprefix(RESOLVER)
        if name != key:
            yield {f"{level}.resolver.{name}": value for level in levels}
        else:
            yield {key: value}


def _flat(table: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, str]]:
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{before}{key}.")
        elif key not in HEAD:
            yield before + key, str(value)
