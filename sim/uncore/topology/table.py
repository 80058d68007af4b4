"""Reading a machine's tree: typed, with the unit's domain, every number on record.

A `Table` wraps a `Branch` under its dotted key.  Its readers convert one key each, answer what is
wrong with file and line, and note each number used in the `Ledger`.  Whatever key was never asked
for when a machine is resolved is unknown: `refuse_unknown` says so and names the nearest that is
known.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, TypeVar

from uncore.errors import UserError, nearest
from uncore.topology import units
from uncore.topology.document import Branch, Leaf, wrong
from uncore.topology.examples import example
from uncore.topology.machine import Number

T = TypeVar("T")
D = TypeVar("D", Fraction, None)
MISSING: Any = object()


@dataclass
class Ledger:
    """The clock domains a quantity may name, and the numbers used so far."""

    root: Branch
    numbers: dict[str, Number] = field(default_factory=dict)
    keys: dict[int, str] = field(default_factory=dict)  # of a leaf: the first that it was read by

    def note(self, key: str, leaf: Leaf) -> None:
        """A number that a kind's table inherits is its level's (kinds.py)."""
        if self.keys.setdefault(id(leaf), key) != key:
            return
        place = leaf.place
        text = str(leaf.value)
        self.numbers[key] = Number(key, text, leaf.source, place.file, place.line)

    def period(self, domain: str) -> Fraction:
        """Of `[clocks] domain`, or of a table that states its own `clock`."""
        for key in (f"clocks.{domain}", f"{domain}.clock"):
            if leaf := self._frequency(key):
                self.note(key, leaf)
                return _converted(key, leaf, units.frequency)
        known = ", ".join(self.domains()) or "none"
        raise units.UnitError(f"there is no clock '{domain}': known clocks are {known}")

    def knows(self, domain: str) -> bool:
        return any(self._frequency(key) for key in (f"clocks.{domain}", f"{domain}.clock"))

    def _frequency(self, key: str) -> Leaf | None:
        node: Branch | Leaf | None = self.root
        for part in key.split("."):
            node = node.items.get(part) if isinstance(node, Branch) else None
        return node if isinstance(node, Leaf) and _is_frequency(node) else None

    def domains(self) -> list[str]:
        clocks = self.root.items.get("clocks")
        named = list(clocks.items) if isinstance(clocks, Branch) else []
        for table, branch in self.root.items.items():
            own = branch.items.get("clock") if isinstance(branch, Branch) else None
            if isinstance(own, Leaf) and _is_frequency(own):
                named.append(table)
        return named


def _is_frequency(leaf: Leaf) -> bool:
    return str(leaf.value)[:1].isdigit()


def _converted(key: str, leaf: Leaf, convert: Callable[[str], T]) -> T:
    if isinstance(leaf.value, bool) or not isinstance(leaf.value, (str, int, float)):
        raise wrong(leaf.place, f"'{key}': expected a text or a number, not {_kind(leaf.value)}")
    try:
        return convert(str(leaf.value).strip())
    except units.UnitError as error:
        raise wrong(leaf.place, f"'{key} = {leaf.value}': {error}") from None


def _kind(value: object) -> str:
    names = {bool: "true or false", list: "a list", dict: "a table"}
    return names.get(type(value), "a " + type(value).__name__)


class Table:
    def __init__(self, branch: Branch, key: str, ledger: Ledger, domain: str = "core") -> None:
        self.branch, self.key, self.ledger, self.domain = branch, key, ledger, domain

    def name(self, key: str) -> str:
        return f"{self.key}.{key}" if self.key else key

    def __contains__(self, key: str) -> bool:
        self.branch.asked.add(key)
        return key in self.branch.items

    def wrong(self, key: str, message: str) -> UserError:
        node = self.branch.items.get(key, self.branch)
        return wrong(node.place, message)

    def leaf(self, key: str) -> Leaf | None:
        self.branch.asked.add(key)
        node = self.branch.items.get(key)
        if isinstance(node, Branch):
            raise wrong(node.place, f"'{self.name(key)}' expects a value, not a table")
        return node

    def absent(self, key: str) -> UserError:
        """A required key is not there: perhaps it is, misspelt."""
        values = (k for k, node in self.branch.items.items() if isinstance(node, Leaf))
        spare = [k for k in values if k not in self.branch.asked]
        likely = nearest(key, spare)
        if likely:
            spelt = likely.split("'")[1]
            return self.wrong(
                spelt, f"unknown key '{self.name(spelt)}'. Did you mean '{self.name(key)}'?"
            )
        where = f"[{self.key}]" if self.key else "the file"
        return wrong(self.branch.place, f"{where} lacks '{key}'; write {example(self.key, key)}")

    def read(self, key: str, convert: Callable[[str], T], default: T = MISSING) -> T:
        leaf = self.leaf(key)
        if leaf is None:
            if default is MISSING:
                raise self.absent(key)
            return default
        return _converted(self.name(key), leaf, convert)

    def number(self, key: str, convert: Callable[[str], T], default: T = MISSING) -> T:
        value = self.read(key, convert, default)
        leaf = self.leaf(key)
        if leaf is not None:
            self.ledger.note(self.name(key), leaf)
        return value

    def period(self, domain: str | None) -> Fraction:
        return self.ledger.period(domain or self.domain)

    def duration(self, key: str, default: D = MISSING) -> Fraction | D:
        return self.number(key, lambda text: units.duration(text, self.period), default)

    def rate(self, key: str, default: Fraction | None = MISSING) -> Fraction | None:
        return self.number(key, lambda text: units.rate(text, self.period), default)

    def size(self, key: str, default: int = MISSING) -> int:
        return self.number(key, units.size, default)

    def count(self, key: str, low: int, high: int, default: int = MISSING) -> int:
        return self.number(key, lambda text: units.count(text, low, high), default)

    def share(self, key: str, high: int = 1, default: Fraction = MISSING) -> Fraction:
        def fraction(text: str) -> Fraction:
            plain = text.replace(".", "", 1).isdecimal() and len(text) < 16
            if plain and 0 < (value := Fraction(text)) <= high:
                return value
            raise units.UnitError(f"expected a plain number above 0, at most {high}, like 0.6")

        return self.number(key, fraction, default)

    def word(self, key: str, choices: Sequence[str], default: str = MISSING) -> str:
        def chosen(text: str) -> str:
            if text in choices:
                return text
            raise units.UnitError(
                f"expected {' or '.join(repr(c) for c in choices)}.{nearest(text, choices)}"
            )

        return self.read(key, chosen, default)

    def text(self, key: str, default: str = MISSING) -> str:
        return self.read(key, str, default)

    def table(self, key: str) -> Table | None:
        self.branch.asked.add(key)
        node = self.branch.items.get(key)
        if isinstance(node, Leaf):
            raise wrong(node.place, f"'{self.name(key)} = {node.value}': expected a table of keys")
        return Table(node, self.name(key), self.ledger, self.domain) if node else None

    def level(self, key: str, kind: str = "") -> Table:
        """A table at the top, or that of a kind in it (kinds.py).  Its quantities are in the clock
        domain it names or has, else its level's, else its cores'."""
        table = self.table(key) or Table(Branch(self.branch.place), key, self.ledger)
        cores = "core"
        if kind:
            table, cores = table.table(kind) or table, f"core.{kind}"
        clock = table.leaf("clock")
        knows = self.ledger.knows
        if clock is None or _is_frequency(clock):
            table.domain = next(filter(knows, (table.key, key, cores)), "core")
        elif knows(str(clock.value)):
            table.domain = str(clock.value)
        else:
            known = ", ".join(self.ledger.domains()) or "(none is stated)"
            raise table.wrong(
                "clock",
                f"'{table.name('clock')} = {clock.value}': expected a frequency, like \"4.0GHz\","
                f" or one of the clocks {known}",
            )
        return table


def refuse_unknown(branch: Branch, key: str = "", deep: bool = True) -> None:
    """The first key, in the order of the file, that nobody asked for."""
    for name, node in branch.items.items():
        full = f"{key}.{name}" if key else name
        if name not in branch.asked:
            known = ", ".join(sorted(branch.asked)) or "nothing"
            hint = nearest(full, (full.removesuffix(name) + other for other in branch.asked))
            hint = hint or f" Known here: {known}."
            if key and "." not in key and isinstance(node, Branch):
                hint += " If it is a kind, [kinds] must say where."
            if not node.place.line:  # it stands on the command line
                hint += " `uncore show MACHINE --keys` lists all."
            raise wrong(node.place, f"unknown key '{full}'.{hint}")
        if deep and isinstance(node, Branch):
            refuse_unknown(node, full)
