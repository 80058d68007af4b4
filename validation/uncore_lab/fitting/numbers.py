"""The numbers of a machine to fit, and the clocks in whose cycles they may be constant.

    free_numbers_of(name) -> {key: FreeNumber}
                                        numbers whose source begins with "fitted" or "predicted"
    free_numbers_of(name, keys)         the numbers with these keys
    lendable_numbers_of(name)           the free numbers as relatives lend them: one of SIBLINGS_SUM
                                        together with the other, which the file states
    clocks(name) -> {unit: ns}          ns of a "core" or "uncore" cycle on the machine; of "ns", 1
    settings({key: ns}, free_numbers)   KEY=VALUE for these numbers and for those that follow them
    stepped(free_numbers, steps)        the numbers, each times the exponential of its step
    highest(free_numbers)               the largest allowed step of each
    scaled(text, factor)                a number as its file writes it, times a factor

A latency is converted to nanoseconds from the unit of its file; a ratio ("control_ratio") has no
unit.  "uncore" is the clock outside the cores: that of a ring, a mesh or AMD's fabric.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from math import exp, inf, log

from uncore import topology
from uncore.topology.document import Branch, Leaf
from uncore.topology.follow import followers
from uncore.topology.kinds import write_out
from uncore.topology.lineage import Descent, lineage, year
from uncore.topology.load import read_measured
from uncore.topology.machine import Number
from uncore.topology.table_reader import KeyRecord, Table

NS, CORE, UNCORE, RATIO = "ns", "core", "uncore", "ratio"
UNKNOWN = ("fitted", "predicted")  # a number is fitted if its `source` begins with one of these
UNITS = (NS, CORE, UNCORE)
UNITLESS_NUMBER = re.compile(r"\d*\.?\d+")
AMOUNT = re.compile(r"([\d.]+)([^+]*)")
MAX_RATIO = 10
AMOUNT_DIGITS = 4  # significant digits of a written amount

# Keys that describe the same thing on different machines, with the factor between their values. If
# the memory nodes of an IO die are its quadrants, the path into a quadrant is half of a crossbar,
# and so is the path out of it.
SAME_SLOTS = {"quadrant.join crossbar.latency": ("socket.join quadrants.inject", 2.0)}

# A handoff between siblings lasts as long as an atomic and the restart of the one that waited
# (C6.5), so its figures determine only the sum. Relatives differ less in it than in either number.
SIBLINGS_SUM = ("core.atomic", "core.restart")


@dataclass(frozen=True)
class FreeNumber:
    """A number that a fit may change."""

    key: str
    value: float  # ns, with `summand_ns`; a ratio has no unit
    unit: str  # unit in the file: "ns", "core", "uncore" or "ratio"
    slot: str  # kind of number: equal for corresponding parts of all machines
    count: float  # number of equal parts whose values add up to this one
    descent: Descent  # lineage of the part of the machine to which the number belongs
    # keys whose values follow this number, each with its ratio to this number
    followers: tuple[tuple[str, float], ...]
    # keys in tables of kinds of cores that inherit the number in cycles, each with its ratio in ns
    heirs: tuple[tuple[str, float], ...] = ()
    year: int | None = None  # year of the machine, if the file states one
    summand_ns: float = 0.0  # stated number that `value` includes (SIBLINGS_SUM)

    def alone(self, value: float) -> float:
        """Returns the value without its summand, at least 0."""
        return max(0.0, value - self.summand_ns)

    def settings(self, value: float) -> list[str]:
        unit = "" if self.unit == RATIO else "ns"
        keys_and_ratios = ((self.key, 1.0), *self.followers, *self.heirs)
        return [f"{key}={ratio * self.alone(value):.6f}{unit}" for key, ratio in keys_and_ratios]


def free_numbers_of(name: str, keys: Collection[str] | None = None) -> dict[str, FreeNumber]:
    machine, (tree, _) = topology.load(name, measured=True), read_measured(name)
    reader, ancestors, its_year = _DurationReader(tree), lineage(name), year(name)
    numbers = [n for n in machine.numbers if (is_unknown(n) if keys is None else n.key in keys)]
    free_numbers = (reader.free_number(n, machine.numbers, ancestors) for n in numbers)
    return {number.key: replace(number, year=its_year) for number in free_numbers}


def lendable_numbers_of(name: str) -> dict[str, FreeNumber]:
    free_numbers, pair = free_numbers_of(name), free_numbers_of(name, SIBLINGS_SUM)
    free, stated = (
        [n for n in pair.values() if (n.key in free_numbers) == is_free]
        for is_free in (True, False)
    )
    if len(free) == len(stated) == 1:
        (number,), (summand,) = free, stated
        free_numbers[number.key] = replace(
            number,
            value=number.value + summand.value,
            summand_ns=summand.value,
            slot=" + ".join(SIBLINGS_SUM),
        )
    return free_numbers


def is_unknown(number: Number) -> bool:
    return number.source.startswith(UNKNOWN)


def is_ratio(number: Number) -> bool:
    return UNITLESS_NUMBER.fullmatch(number.text.strip()) is not None


def clocks(name: str) -> dict[str, float]:
    return _DurationReader(read_measured(name)[0]).clocks()


def settings(values: Mapping[str, float], free_numbers: Mapping[str, FreeNumber]) -> list[str]:
    return [text for key, value in values.items() for text in free_numbers[key].settings(value)]


def stepped(free_numbers: Mapping[str, FreeNumber], steps: Iterable[float]) -> dict[str, float]:
    """Returns each number times the exponential of its step."""
    return {
        key: number.value * exp(step)
        for (key, number), step in zip(free_numbers.items(), steps, strict=True)
    }


def highest(free_numbers: Mapping[str, FreeNumber]) -> list[float]:
    """Returns the largest allowed step of each number; only ratios have a limit."""
    return [log(MAX_RATIO / f.value) if f.unit == RATIO else inf for f in free_numbers.values()]


def scaled(text: str, factor: float) -> str:
    """Returns the amount times the factor; empty if the text is not one amount with one unit."""
    match = AMOUNT.fullmatch(text.strip())
    return f"{float(match[1]) * factor:.{AMOUNT_DIGITS}g}{match[2]}" if match else ""


class _DurationReader:
    """Reads durations from the tree of a machine file without building the machine."""

    def __init__(self, tree: Branch) -> None:
        write_out(tree)
        self.tree, self.top = tree, Table(tree, "", KeyRecord(tree))
        kinds = self.top.table("kinds")
        self.kinds = list(kinds.branch.items) if kinds else []

    def clocks(self) -> dict[str, float]:
        key_record = self.top.key_record
        beside = [domain for domain in key_record.domains() if domain != "core"]
        periods = {NS: 1.0, CORE: _ns(key_record.period("core"))}
        return periods | ({UNCORE: _ns(key_record.period(beside[0]))} if beside else {})

    def free_number(
        self, number: Number, other_numbers: tuple[Number, ...], ancestors: Mapping[str, Descent]
    ) -> FreeNumber:
        level, *path = number.key.split(".")
        kind = path.pop(0) if path[0] in self.kinds else ""
        table = self._table(level, kind, path)
        ratio = is_ratio(number)
        slot, count = SAME_SLOTS.get(slot_key := _slot(table, [level, *path]), (slot_key, 1.0))
        value = float(number.text) if ratio else _ns(table.duration(path[-1]))
        return FreeNumber(
            key=number.key,
            value=value,
            unit=RATIO if ratio else _unit(number.text, table.domain),
            slot=slot,
            count=count,
            descent=ancestors.get(level, ()),
            followers=tuple((n.key, share) for n, share in followers(number, other_numbers)),
            heirs=() if ratio or kind else tuple(self._heirs(level, path, table, value)),
        )

    def _table(self, level: str, kind: str, path: list[str]) -> Table:
        """Returns the innermost table of the path, which holds the last key of the path."""
        table = self.top.level(level, kind)
        for part in path[:-1]:
            inner = table.table(part)
            assert inner is not None
            table = inner
        return table

    def _heirs(
        self, level: str, path: list[str], own_table: Table, value: float
    ) -> Iterator[tuple[str, float]]:
        """Yields the key for each kind of cores that inherits the number, with its ratio in ns: the
        cycles are the same, but each kind has its own clock.
        """
        for kind in self.kinds:
            if kind in self.top.level(level):
                table = self._table(level, kind, path)
                if table.leaf(path[-1]) is own_table.leaf(path[-1]):
                    kind_ns = _ns(table.duration(path[-1]))
                    if kind_ns != value:
                        yield ".".join((level, kind, *path)), kind_ns / value


def _unit(text: str, domain: str) -> str:
    amount, _, clock_name = text.partition("@")
    if not amount.strip().endswith("cy"):
        return NS
    clock = clock_name.strip() or domain
    if "." in clock:  # the clock is that of a kind of cores, which no relative has
        return NS
    return CORE if clock == "core" else UNCORE


def _slot(table: Table, path: list[str]) -> str:
    """Returns the key with the kind of its join, because `inject` of a ring and of a mesh are
    different numbers.
    """
    kind = table.branch.items.get("kind")
    if path[-2] != "join" or not isinstance(kind, Leaf):
        return ".".join(path)
    family = "ring" if kind.value == "two-rings" else kind.value
    return f"{'.'.join(path[:-1])} {family}.{path[-1]}"


def _ns(ps: Fraction) -> float:
    return float(ps) / 1000
