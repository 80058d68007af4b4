"""The numbers of a machine that are to be determined, and the clocks they might follow.

    free(name) -> {key: Free}      numbers whose source begins with "fitted" or "predicted"
    free(name, keys)               these numbers
    clocks(name) -> {unit: ns}     how long one unit is there: "ns", "core" cycles, "uncore" cycles
    settings({key: ns}, frees)     as KEY=VALUE, with the keys that follow
    stepped(frees, steps)           what they become if their logarithms move so far
    highest(frees)                 how far they may
    scaled(text, factor)           a number as its file writes it, times a factor

A latency is held in nanoseconds whatever its file says; a ratio ("control_ratio") has no unit.
"uncore" is the machine's own clock beside the cores': of a ring, a mesh or AMD's fabric.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import exp, inf, log

from uncore import topology
from uncore.topology.document import Branch, Leaf
from uncore.topology.follow import followers
from uncore.topology.lineage import Descent, lineage
from uncore.topology.load import read
from uncore.topology.machine import Number
from uncore.topology.table import Ledger, Table

NS, CORE, UNCORE, RATIO = "ns", "core", "uncore", "ratio"
UNKNOWN = ("fitted", "predicted")  # sources of numbers that somebody must determine
UNITS = (NS, CORE, UNCORE)
PURE = re.compile(r"\d*\.?\d+")  # a number without a unit
AMOUNT = re.compile(r"([\d.]+)([^+]*)")
MOST_RATIO = 10
DIGITS = 4  # of an amount that is written

# What is drawn in two ways and is one thing: where the memory nodes of an IO die are its quadrants,
# the way in and the way out of a quadrant are the halves of a crossbar.
DRAWN = {"quadrant.join crossbar.latency": ("socket.join quadrants.inject", 2.0)}


@dataclass(frozen=True)
class Free:
    """A number to be determined."""

    key: str
    value: float  # ns, or a ratio
    unit: str  # its file's: "ns", "core", "uncore" or "ratio"
    slot: str  # what it is: the same in every machine that has such a part
    count: float  # how many such this number is made of
    descent: Descent  # of the part it belongs to
    followers: tuple[tuple[str, float], ...]  # each at a ratio

    def settings(self, value: float) -> list[str]:
        unit = "" if self.unit == RATIO else "ns"
        moved = ((self.key, 1.0), *self.followers)
        return [f"{key}={ratio * value:.6f}{unit}" for key, ratio in moved]


def free(name: str, keys: Collection[str] | None = None) -> dict[str, Free]:
    machine, (tree, _) = topology.load(name), read(name)
    reader, ancestors = _Reader(tree), lineage(name)
    asked = [n for n in machine.numbers if (is_unknown(n) if keys is None else n.key in keys)]
    return {n.key: reader.free(n, machine.numbers, ancestors) for n in asked}


def is_unknown(number: Number) -> bool:
    return number.source.startswith(UNKNOWN)


def is_ratio(number: Number) -> bool:
    return PURE.fullmatch(number.text.strip()) is not None


def clocks(name: str) -> dict[str, float]:
    return _Reader(read(name)[0]).clocks()


def settings(values: Mapping[str, float], frees: Mapping[str, Free]) -> list[str]:
    return [text for key, value in values.items() for text in frees[key].settings(value)]


def stepped(frees: Mapping[str, Free], steps: Iterable[float]) -> dict[str, float]:
    """Each number times the exponential of its step."""
    return {
        key: one.value * exp(step) for (key, one), step in zip(frees.items(), steps, strict=True)
    }


def highest(frees: Mapping[str, Free]) -> list[float]:
    """The steps at which numbers reach their limits: ratios have one."""
    return [log(MOST_RATIO / f.value) if f.unit == RATIO else inf for f in frees.values()]


def scaled(text: str, factor: float) -> str:
    """Empty: it is no one amount with one unit."""
    match = AMOUNT.fullmatch(text.strip())
    return f"{float(match[1]) * factor:.{DIGITS}g}{match[2]}" if match else ""


class _Reader:
    """A machine's tree, asked for durations instead of a machine."""

    def __init__(self, tree: Branch) -> None:
        self.tree, self.top = tree, Table(tree, "", Ledger(tree))

    def clocks(self) -> dict[str, float]:
        ledger = self.top.ledger
        beside = [domain for domain in ledger.domains() if domain != "core"]
        found = {NS: 1.0, CORE: _ns(ledger.period("core"))}
        return found | ({UNCORE: _ns(ledger.period(beside[0]))} if beside else {})

    def free(
        self, number: Number, others: tuple[Number, ...], ancestors: Mapping[str, Descent]
    ) -> Free:
        path = number.key.split(".")
        table = self.top.level(path[0])
        for part in path[1:-1]:
            inner = table.table(part)
            assert inner is not None
            table = inner
        ratio = is_ratio(number)
        slot, count = DRAWN.get(named := _slot(table, path), (named, 1.0))
        value = float(number.text) if ratio else _ns(table.duration(path[-1]))
        return Free(
            key=number.key,
            value=value,
            unit=RATIO if ratio else _unit(number.text, table.domain),
            slot=slot,
            count=count,
            descent=ancestors.get(path[0], ()),
            followers=tuple((n.key, share) for n, share in followers(number, others)),
        )


def _unit(text: str, domain: str) -> str:
    amount, _, named = text.partition("@")
    if not amount.strip().endswith("cy"):
        return NS
    return CORE if (named.strip() or domain) == "core" else UNCORE


def _slot(table: Table, path: list[str]) -> str:
    """The key, with the kind of the join: the inject of a ring is not that of a mesh."""
    kind = table.branch.items.get("kind")
    if path[-2] != "join" or not isinstance(kind, Leaf):
        return ".".join(path)
    family = "ring" if kind.value == "two-rings" else kind.value
    return f"{'.'.join(path[:-1])} {family}.{path[-1]}"


def _ns(ps: Fraction) -> float:
    return float(ps) / 1000
