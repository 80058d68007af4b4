"""Reads the values of a machine's tree with types and units, and records every number that is used.

A `Table` wraps a `Branch` and its dotted key. Each of its readers converts the value of one key,
with the range and the default of the key's declaration (keys.py), reports errors with file and
line, and notes each number that is used in the `KeyRecord`. `part` reads every field of a dataclass
of machine.py that one key decides, so a new field is read without a change here. Invariant: a key
that no field declares cannot be read (KeyError).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, TypeVar

from uncore.errors import UserError, suggestion
from uncore.topology import units
from uncore.topology.document import Branch, Leaf, wrong
from uncore.topology.keys import KEYS, LEVEL, schema_path
from uncore.topology.machine import Number
from uncore.topology.missing import lack
from uncore.topology.schema import DEFAULT_LINE_BYTES, Field, Form, Key, fields

T = TypeVar("T")
D = TypeVar("D", Fraction, None)
MISSING: Any = object()


@dataclass
class KeyRecord:
    """Record of the keys and numbers of a machine that have been read, with its clock domains."""

    root: Branch
    line: int = DEFAULT_LINE_BYTES  # bytes per cache line of the machine
    asked: dict[str, tuple[Key, Leaf | None]] = field(default_factory=dict)
    numbers: dict[str, Number] = field(default_factory=dict)
    keys: dict[int, str] = field(default_factory=dict)  # id of a leaf -> the first key that read it

    def note(self, key: str, leaf: Leaf) -> None:
        """Records a number. If a kind's table inherits the number, it is recorded only for the
        level (kinds.py).
        """
        if self.keys.setdefault(id(leaf), key) != key:
            return
        self.numbers[key] = noted(key, leaf)

    def period(self, domain: str) -> Fraction:
        """Returns the period of the clock `domain`, which is a clock of [clocks] or a table that
        has a `clock`.
        """
        own = f"{schema_path(domain.partition('.')[0])}.clock"
        for key, declared in ((f"clocks.{domain}", "clocks.NAME"), (f"{domain}.clock", own)):
            if leaf := self._frequency(key):
                self.asked[key] = KEYS[declared], leaf
                self.note(key, leaf)
                return _converted(key, leaf, units.frequency)
        domains = ", ".join(self.domains()) or "none"
        raise units.UnitError(f"there is no clock '{domain}': known clocks are {domains}")

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


def noted(key: str, leaf: Leaf) -> Number:
    """Returns the number in a key's leaf, with its file and line."""
    text = " ".join(str(leaf.value).split())  # a map has several lines
    return Number(key, text, leaf.source, leaf.place.file, leaf.place.line, leaf.interval)


def _is_frequency(leaf: Leaf) -> bool:
    return str(leaf.value)[:1].isdigit()


def _converted(key: str, leaf: Leaf, convert: Callable[[str], T]) -> T:
    if isinstance(leaf.value, bool) or not isinstance(leaf.value, (str, int, float)):
        raise wrong(leaf.place, f"'{key}': expected a text or a number, not {_kind(leaf.value)}")
    try:
        value = convert(str(leaf.value).strip())
        if leaf.interval:
            ends: list[Any] = [convert(end.strip()) for end in leaf.interval]
            if not min(ends) <= value <= max(ends):
                raise units.UnitError(f"expected an interval that holds it, not {leaf.interval}")
        return value
    except units.UnitError as error:
        raise wrong(leaf.place, f"'{key} = {leaf.value}': {error}") from None


def _kind(value: object) -> str:
    names = {bool: "true or false", list: "a list", dict: "a table"}
    return names.get(type(value), "a " + type(value).__name__)


class Table:
    """A table of a machine file. Its keys are declared under `path`, such as "LEVEL.join" for
    [socket.join].
    """

    def __init__(
        self, branch: Branch, key: str, key_record: KeyRecord, domain: str = "core", path: str = ""
    ) -> None:
        self.branch, self.key, self.key_record, self.domain = branch, key, key_record, domain
        self.path = path

    def name(self, key: str) -> str:
        return f"{self.key}.{key}" if self.key else key

    def declared(self, key: str, *forms: Form) -> Key:
        below = f"{self.path}." if self.path else ""
        names = (f"{below}{last}" for last in (key, "NAME", LEVEL))
        declaration = next((KEYS[name] for name in names if name in KEYS), None)
        if declaration is None or (forms and declaration.form not in forms):
            raise KeyError(f"{below}{key}: no field declares this key so")
        return declaration

    def __contains__(self, key: str) -> bool:
        return key in self.branch.items

    def wrong(self, key: str, message: str) -> UserError:
        node = self.branch.items.get(key, self.branch)
        return wrong(node.place, message)

    def leaf(self, key: str) -> Leaf | None:
        declared, node = self.declared(key), self.branch.items.get(key)
        if isinstance(node, Branch):
            raise wrong(node.place, f"'{self.name(key)}' expects a value, not a table")
        self.key_record.asked[self.name(key)] = declared, node
        return node

    def absent(self, key: str) -> UserError:
        return lack(self.branch.place, self.key, (key,))

    def read(self, key: str, convert: Callable[[str], T], default: T = MISSING) -> T:
        leaf, declared = self.leaf(key), self.declared(key)
        if leaf is not None:
            return _converted(self.name(key), leaf, convert)
        if default is not MISSING:
            return default
        if declared.default is None:
            raise self.absent(key)
        return convert(declared.default)

    def number(self, key: str, convert: Callable[[str], T], default: T = MISSING) -> T:
        value = self.read(key, convert, default)
        leaf = self.leaf(key)
        if leaf is not None:
            self.key_record.note(self.name(key), leaf)
        return value

    def period(self, domain: str | None) -> Fraction:
        return self.key_record.period(domain or self.domain)

    def duration(self, key: str, default: D = MISSING) -> Fraction | D:
        self.declared(key, Form.DURATION)
        return self.number(key, lambda text: units.duration(text, self.period), default)

    def rate(self, key: str, default: D = MISSING) -> Fraction | D:
        self.declared(key, Form.RATE)
        return self.number(key, lambda text: units.rate(text, self.period), default)

    def size(self, key: str) -> int:
        self.declared(key, Form.SIZE)
        return self.number(key, units.size)

    def count(self, key: str, default: int = MISSING, low: int = 0) -> int:
        declared = self.declared(key, Form.COUNT)
        low = max(low, declared.low)
        return self.number(key, lambda text: units.count(text, low, declared.high), default)

    def share(self, key: str) -> Fraction:
        declared = self.declared(key, Form.SHARE)
        return self.number(key, lambda text: units.share(text, declared.low, declared.high))

    def word(self, key: str, choices: Sequence[str] = ()) -> str:
        words = choices or self.declared(key, Form.WORD).words

        def chosen(text: str) -> str:
            if text in words:
                return text
            raise units.UnitError(
                f"expected {' or '.join(repr(c) for c in words)}.{suggestion(text, words)}"
            )

        return self.read(key, chosen)

    def text(self, key: str) -> str:
        return self.read(key, str)

    def part(self, of: type[T], **given: Any) -> T:
        """Makes an instance of `of` from the fields in `given`, and reads the other fields that are
        decided by one key.
        """
        for member in fields(of):
            if (
                member.own
                and member.own.name.startswith(f"{self.path}.")
                and member.name not in given
            ):
                given[member.name] = self._read_field(
                    member, member.own.name.removeprefix(f"{self.path}.")
                )
        return of(**given)

    def _read_field(self, field: Field, key: str) -> Any:
        """Reads one key as a value of the machine's field: an integer, a bool or a word."""
        inner, _, last = key.rpartition(".")
        if inner:
            table = self.table(inner)
            if table is None:
                if field.own and not field.own.required:
                    return field.default
                raise self.absent(inner)
            return table._read_field(field, last)
        declared = self.declared(key)
        if declared.form is Form.DURATION:
            ps = units.ps(self.duration(key))
            if ps < declared.low:
                raise self.wrong(
                    key,
                    f"'{self.name(key)} = {self.text(key)}' ({declared.about}): expected at least"
                    f" {declared.low}ps",
                )
            return ps
        if declared.form is Form.SHARE:
            return units.ps(self.share(key) * 1000)
        if declared.form is Form.WORD:
            word = self.word(key)
            return word == declared.words[0] if field.type is bool else word
        return {Form.SIZE: self.size, Form.COUNT: self.count, Form.TEXT: self.text}[declared.form](
            key
        )

    def table(self, key: str) -> Table | None:
        node = self.branch.items.get(key)
        if isinstance(node, Leaf):
            raise wrong(node.place, f"'{self.name(key)} = {node.value}': expected a table of keys")
        path = f"{self.path}.{key}" if self.path else schema_path(key)
        return Table(node, self.name(key), self.key_record, self.domain, path) if node else None

    def table_or_empty(self, key: str) -> Table:
        """Returns a table at the top of the file, or an empty table if no file has it."""
        empty = Branch(self.branch.place)
        return self.table(key) or Table(empty, key, self.key_record, path=schema_path(key))

    def level(self, key: str, kind: str = "") -> Table:
        """Returns a level's table at the top of the file, or a kind's table in it (kinds.py).

        Its cycles are those of the first of these clocks that exists: the clock that the table
        names or defines, the clock of its level, the clock of its cores.
        """
        table = self.table_or_empty(key)
        cores = "core"
        if kind:
            table, cores = table.table(kind) or table, f"core.{kind}"
            table.path = schema_path(key)
        clock = table.leaf("clock")
        knows = self.key_record.knows
        if clock is None or _is_frequency(clock):
            table.domain = next(filter(knows, (table.key, key, cores)), "core")
        elif knows(str(clock.value)):
            table.domain = str(clock.value)
        else:
            domains = ", ".join(self.key_record.domains()) or "(none is stated)"
            raise table.wrong(
                "clock",
                f"'{table.name('clock')} = {clock.value}': expected a frequency, like \"4.0GHz\","
                f" or one of the clocks {domains}",
            )
        return table
