"""The protocol tables: read, checked, packed.

    load("mesi") -> Tables            the shipped tables, as they read for MESI
    load("my/tables") -> Tables       a directory with client.table, resolver.table, join.table
    load("my/tables:moesi")           the same, with the rows tagged [moesi]; without: untagged rows
    pack(tables) -> list[int]         32-bit cells, as the constructor of native's Protocol wants

A file that a user's directory lacks is taken from the shipped tables.  The order of states, events
and actions comes from the native module alone.  Invariant: a Tables has no hole: every cell is a
transition, a stall, or impossible for a reason that its file states.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from uncore.errors import UserError, nearest

PROTOCOLS = ("msi", "mesi", "mesif", "moesi")
SHIPPED = Path(__file__).parent
IMPOSSIBLE = 1 << 31

Key = tuple[str, ...]


@dataclass(frozen=True)
class Shape:
    """What one table looks like: how its head begins, and which names it is made of."""

    name: str
    file: str
    head: str
    rows: tuple[str, ...]
    columns: str
    actions: str | None
    omitted: tuple[str, ...] = ()  # rows that cannot be written, and why they cannot happen
    reason: str = ""


SHAPES = (
    Shape("client", "client.table", "state", ("states",), "client_events", "client_actions"),
    Shape("resolver", "resolver.table", "children", ("children",), "requests", "resolver_actions"),
    Shape("grant", "resolver.table", "answers", ("requests",), "answers", None,
          ("Put", "Evict"), "neither is granted anything"),
    Shape("join", "join.table", "children phase", ("children", "phases"), "probes", "join_actions",
          ("R", "U"), "a snooping resolver stands at the root only"),
)  # fmt: skip


@dataclass(frozen=True)
class Cell:
    """One cell: what happens, or why it cannot.  `next` is None where the state stays."""

    actions: tuple[str, ...] = ()
    next: str | None = None
    reason: str = ""
    text: str = ""

    @property
    def possible(self) -> bool:
        return not self.reason


@dataclass(frozen=True)
class Table:
    """One table in native order: `table["M", "ProbeS"]`, `table["W idle", "Inv"]`."""

    shape: Shape
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: dict[tuple[str, str], Cell]

    def __getitem__(self, key: tuple[str, str]) -> Cell:
        return self.cells[key]

    def __iter__(self) -> Iterator[Cell]:
        return (self.cells[row, column] for row in self.rows for column in self.columns)


@dataclass(frozen=True)
class Tables:
    """The protocol `name`."""

    name: str
    client: Table
    resolver: Table
    grant: Table
    join: Table

    def __iter__(self) -> Iterator[Table]:
        return iter((self.client, self.resolver, self.grant, self.join))


@cache
def names() -> dict[str, list[str]]:
    """The names every table is made of, in native order."""
    from uncore import _native

    return dict(_native.protocol_names())


# --- reading ----------------------------------------------------------------------------------


@dataclass
class Line:
    """A line of a file, and how to complain about it."""

    path: Path
    number: int
    text: str

    def error(self, read: str, expected: str) -> UserError:
        return UserError(f"{self.path}:{self.number}: read '{read}', expected {expected}")


@dataclass
class Section:
    """The lines of one table, as written."""

    head: Line
    rows: list[Line] = field(default_factory=list)


def load(name: str) -> Tables:
    """The tables of a shipped protocol, or of a user's directory of tables (`DIR[:PROTOCOL]`)."""
    place, _, variant = name.rpartition(":") if ":" in name else (name, "", "")
    directory = SHIPPED
    if name in PROTOCOLS:
        variant = name
    elif Path(place).is_dir():
        directory = Path(place)
        if variant and variant not in PROTOCOLS:
            raise UserError(
                f"protocol '{name}': after the directory expected one of {', '.join(PROTOCOLS)}"
                f" (which tagged rows to use), read '{variant}'.{nearest(variant, PROTOCOLS)}"
            )
        if not any((directory / file).is_file() for file in files()):
            raise UserError(f"protocol '{name}': none of {', '.join(files())} is in {directory}")
    else:
        raise UserError(
            f"protocol '{name}': expected one of {', '.join(PROTOCOLS)}, or a directory of tables."
            f"{nearest(name, PROTOCOLS)}"
        )
    return read(name, variant, directory)


def read(name: str, variant: str, directory: Path) -> Tables:
    """Every table of `directory`, with the rows tagged for `variant`."""
    tables = {}
    for file in files():
        path = directory / file if (directory / file).is_file() else SHIPPED / file
        sections, reasons = split(path)
        used: set[str] = set()
        for shape in SHAPES:
            if shape.file == file:
                tables[shape.name] = Reader(shape, path, variant, reasons, used).table(sections)
        for word in reasons.keys() - used:
            raise reasons[word][0].error(
                f"{word}:", f"a reason that a cell of this file gives as !{word}; delete the line"
            )
    return Tables(name, **tables)


def files() -> list[str]:
    return list(dict.fromkeys(shape.file for shape in SHAPES))


def split(path: Path) -> tuple[list[Section], dict[str, tuple[Line, str]]]:
    """A file's tables and reasons.  A table is a head and the rows that follow without a gap."""
    sections: list[Section] = []
    reasons: dict[str, tuple[Line, str]] = {}
    within = False
    for number, text in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        line = Line(path, number, text)
        if not text.strip() or text.startswith("#"):
            within = within and bool(text.strip())
        elif "|" in text:
            if within:
                sections[-1].rows.append(line)
            else:
                sections.append(Section(line))
            within = True
        elif match := re.fullmatch(r"(\w+):\s*(.+)", text):
            if match[1] in reasons:
                raise line.error(match[1] + ":", "each reason once; it is stated above already")
            reasons[match[1]] = (line, match[2])
        else:
            raise line.error(text.strip(), "a row 'STATE | cells', 'reason: why', or a # comment")
    return sections, reasons


@dataclass
class Reader:
    """Reads the rows of one table as one protocol sees them."""

    shape: Shape
    path: Path
    variant: str
    reasons: dict[str, tuple[Line, str]]
    used: set[str]

    def table(self, sections: list[Section]) -> Table:
        section = self.section(sections)
        columns = self.columns(section.head)
        chosen: dict[str, tuple[bool, list[Cell]]] = {}
        for line in section.rows:
            row, tags = self.key(line)
            if tags and not self.applies(line, tags):
                self.cells(line, columns)  # still checked: a hole is a hole in every protocol
                continue
            if row in chosen and chosen[row][0] == bool(tags):
                raise line.error(row, "each row once; this one is written above already")
            if row not in chosen or tags:
                chosen[row] = (bool(tags), self.cells(line, columns))
        rows = tuple(self.all_rows())
        cells = {}
        for row in rows:
            written = chosen[row][1] if row in chosen else self.unwritten(row, section, chosen)
            cells.update({(row, c): cell for c, cell in zip(columns, written, strict=True)})
        return Table(self.shape, rows, tuple(names()[self.shape.columns]), cells)

    def section(self, sections: list[Section]) -> Section:
        for section in sections:
            if section.head.text.partition("|")[0].split() == self.shape.head.split():
                return section
        raise UserError(
            f"{self.path}: the table of '{self.shape.name}' is missing, expected a head line"
            f" '{self.shape.head} | {' '.join(names()[self.shape.columns])}'"
        )

    def columns(self, head: Line) -> list[str]:
        known = names()[self.shape.columns]
        columns = head.text.partition("|")[2].replace("|", " ").split()
        for column in columns:
            if column not in known:
                raise head.error(column, f"one of {' '.join(known)}.{nearest(column, known)}")
        for column in known:
            if columns.count(column) != 1:
                times = "twice" if column in columns else "not at all"
                raise head.error(head.text.strip(), f"{column} once, it stands here {times}")
        return columns

    def key(self, line: Line) -> tuple[str, list[str]]:
        left = line.text.partition("|")[0]
        match = re.fullmatch(r"\s*([^\[\]]*?)\s*(?:\[([^\[\]]*)\]\s*)?", left)
        if not match:
            raise line.error(left.strip(), "the row's name and perhaps a tag, such as M [moesi]")
        words, tags = match[1].split(), re.split(r"[\s,]+", match[2].strip()) if match[2] else []
        if len(words) != len(self.shape.rows):
            raise line.error(match[1], f"the {self.shape.head} of a row, {len(words)} words read")
        for word, kind in zip(words, self.shape.rows, strict=True):
            if word not in names()[kind]:
                known = names()[kind]
                raise line.error(word, f"one of {' '.join(known)}.{nearest(word, known)}")
        if words[0] in self.shape.omitted:
            raise line.error(match[1], f"no such row here: {self.shape.reason}")
        return " ".join(words), tags

    def applies(self, line: Line, tags: list[str]) -> bool:
        for tag in tags:
            if tag not in PROTOCOLS:
                raise line.error(
                    f"[{tag}]", f"one of {', '.join(PROTOCOLS)}.{nearest(tag, PROTOCOLS)}"
                )
        return self.variant in tags

    def cells(self, line: Line, columns: list[str]) -> list[Cell]:
        texts = line.text.partition("|")[2].replace("|", " ").split()
        if len(texts) != len(columns):
            raise line.error(
                f"{len(texts)} cells",
                f"{len(columns)}, one for each of {' '.join(columns)}; a cell that cannot happen"
                " is written !reason",
            )
        return [self.cell(line, text) for text in texts]

    def cell(self, line: Line, text: str) -> Cell:
        if text.startswith("!"):
            if text[1:] not in self.reasons:
                raise line.error(
                    text,
                    f"a reason stated in this file; add a line '{text[1:] or 'reason'}: why'."
                    f"{nearest(text[1:], self.reasons)}",
                )
            self.used.add(text[1:])
            return Cell(reason=self.reasons[text[1:]][1], text=text)
        left, arrow, after = text.partition(">")
        if self.shape.actions is None:
            left, arrow, after = "", ">", text
        actions = tuple(left.split("+")) if left else ()
        self.check_actions(line, text, actions)
        if arrow and (after not in names()["states"] or self.shape.name not in ("client", "grant")):
            expected = f"a state: one of {' '.join(names()['states'])}"
            if self.shape.name in ("resolver", "join"):
                expected = f"actions only: the {self.shape.head} follow from the answers"
            raise line.error(text, f"{expected}.{nearest(after, names()['states'])}")
        if "stall" in actions and text != "stall":
            raise line.error(text, "'stall' alone: what waits does nothing else")
        return Cell(actions, after or None, text=text)

    def check_actions(self, line: Line, text: str, actions: tuple[str, ...]) -> None:
        known = names()[self.shape.actions] if self.shape.actions else []
        for action in actions:
            if action not in known:
                raise line.error(
                    action or text,
                    f"actions joined by '+', of {' '.join(known)}.{nearest(action, known)}",
                )
            if actions.count(action) > 1:
                raise line.error(text, f"each action once, '{action}' stands here twice")

    def all_rows(self) -> Iterator[str]:
        first, *rest = (names()[kind] for kind in self.shape.rows)
        for word in first:
            yield from (f"{word} {other}" for other in rest[0]) if rest else (word,)

    def unwritten(
        self, row: str, section: Section, chosen: dict[str, tuple[bool, list[Cell]]]
    ) -> list[Cell]:
        """A row that cannot be written: impossible; but a join sees no requester, so R is W."""
        first, _, rest = row.partition(" ")
        if first not in self.shape.omitted:
            raise section.head.error(self.shape.name, f"a row for {row}: it is missing below")
        if self.shape.name == "join" and first == "R":
            return chosen[f"W {rest}"][1]
        impossible = Cell(reason=self.shape.reason, text="!")
        return [impossible] * len(names()[self.shape.columns])


# --- packing ----------------------------------------------------------------------------------


def pack(tables: Tables) -> list[int]:
    """All cells, row by row in native order: client, resolver, grant, join."""
    states = {state: number for number, state in enumerate(names()["states"])}
    packed = []
    for table in tables:
        shape = table.shape
        actions = names()[shape.actions] if shape.actions else []
        bits = {action: 1 << (8 + number) for number, action in enumerate(actions)}
        for row in table.rows:
            own = states[row] if shape.name == "client" else 0
            for column in table.columns:
                cell = table[row, column]
                following = states[cell.next] if cell.next else own
                word = following | sum(bits[action] for action in cell.actions)
                packed.append(word if cell.possible else IMPOSSIBLE)
    return packed
