"""Reads one .table file: its heads, rows and reasons. Error messages name the line.

    sections, reasons = split(source)
    states(sections, variant)      the states for which a client table has rows
    Reader(shape, path, variant, states, reasons, used).table(sections) -> Table

A table is a head (`state | Load Store ...`) and the rows below it. A row may be tagged with the
protocols to which it applies (`M [moesi] | ...`); in these it replaces the untagged row of the same
name. Invariant: for any content of the file, the result is a complete Table or a UserError.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from uncore.errors import UserError, suggestion
from uncore.protocol.table_shapes import DATA, VARIANTS, Cell, Shape, Table, names

MAX_STATES = 32  # bound of the native client table
NO_ACTIONS = "-"  # a cell without actions


@dataclass
class TableSource:
    """The text of a table file, or the text of a user's table file that a machine stores."""

    path: Path
    text: str

    @classmethod
    def of(cls, path: Path) -> TableSource:
        return cls(path, path.read_text(encoding="utf-8"))


@dataclass
class FileLine:
    """A line of a file; makes error messages about it."""

    path: Path
    number: int
    text: str

    def error(self, read: str, expected: str) -> UserError:
        return UserError(f"{self.path}:{self.number}: read '{read}', expected {expected}")


@dataclass
class TableSection:
    """The lines of one table in a file."""

    head: FileLine
    rows: list[FileLine] = field(default_factory=list)


def split(source: TableSource) -> tuple[list[TableSection], dict[str, tuple[FileLine, str]]]:
    """Splits a file into tables and reasons. A table is a head and the rows directly below it."""
    sections: list[TableSection] = []
    reasons: dict[str, tuple[FileLine, str]] = {}
    in_table = False
    for number, text in enumerate(source.text.splitlines(), 1):
        line = FileLine(source.path, number, text)
        if not text.strip() or text.startswith("#"):
            in_table = in_table and bool(text.strip())
        elif "|" in text:
            if in_table:
                sections[-1].rows.append(line)
            else:
                sections.append(TableSection(line))
            in_table = True
        elif match := re.fullmatch(r"(\w+):\s*(.+)", text):
            if match[1] in reasons:
                raise line.error(match[1] + ":", "each reason once; it is stated above already")
            reasons[match[1]] = (line, match[2])
        else:
            raise line.error(text.strip(), "a row 'STATE | cells', 'reason: why', or a # comment")
    return sections, reasons


def states(sections: list[TableSection], variant: str) -> tuple[str, ...]:
    """Returns the rows of a client table, in their order. Row I is required, because every line
    begins in state I.
    """
    names: dict[str, None] = {}
    rows = (row for section in sections for row in section.rows)
    for line in rows:
        name, _, tags = line.text.partition("|")[0].partition("[")
        state = name.strip()
        if not re.fullmatch(r"[A-Za-z]\w{0,7}", state):
            raise line.error(state, "a state's name: a letter, then up to 7 letters and digits")
        if not tags or variant in re.split(r"[\s,\]]+", tags):
            names[state] = None
    if sections and "I" not in names:
        raise sections[0].head.error("no row I", "one: every line begins in I, without a copy")
    if len(names) > MAX_STATES:
        raise sections[0].head.error(f"{len(names)} states", f"{MAX_STATES} at most")
    return tuple(names)


@dataclass
class Reader:
    """Reads one table, with the rows that apply to one protocol."""

    shape: Shape
    path: Path
    variant: str
    states: tuple[str, ...]
    reasons: dict[str, tuple[FileLine, str]]
    used: set[str]

    def table(self, sections: list[TableSection]) -> Table:
        parts = self.parts(sections)
        columns = self.columns([part.head for part in parts])
        rows, cells = tuple(self.all_rows()), {}
        for part, names_ in zip(parts, columns, strict=True):
            selected = self.rows(part, names_)
            for row in rows:
                if row in selected:
                    row_cells = selected[row][1]
                else:
                    row_cells = self.omitted_cells(row, part, names_, selected)
                cells.update({(row, c): cell for c, cell in zip(names_, row_cells, strict=True)})
        return Table(self.shape, rows, tuple(name for part in columns for name in part), cells)

    def known(self, kind: str) -> list[str]:
        """Returns all names of a kind."""
        if kind == "states":
            return list(self.states)
        data = [DATA + state for state in self.states] if kind == "client_events" else []
        return names().get(kind, []) + data

    def rows(self, section: TableSection, columns: list[str]) -> dict[str, tuple[bool, list[Cell]]]:
        """Returns for each row its cells, and True if the row is tagged for this protocol."""
        selected: dict[str, tuple[bool, list[Cell]]] = {}
        for line in section.rows:
            row, tags = self.key(line)
            if tags and not self.applies(line, tags):
                self.cells(line, columns)  # only checks the row, which must be complete, too
                continue
            if row in selected and selected[row][0] == bool(tags):
                raise line.error(row, "each row once; this one is written above already")
            if row not in selected or tags:
                selected[row] = (bool(tags), self.cells(line, columns))
        return selected

    def parts(self, sections: list[TableSection]) -> list[TableSection]:
        """Returns the sections of this table, which may be written in parts with some of the
        columns each.
        """
        head = self.shape.head.split()
        parts = [
            section for section in sections if section.head.text.partition("|")[0].split() == head
        ]
        if parts:
            return parts
        raise UserError(
            f"{self.path}: the table of '{self.shape.name}' is missing, expected a head line"
            f" '{self.shape.head} | {' '.join(self.known(self.shape.columns))}'"
        )

    def columns(self, heads: list[FileLine]) -> list[list[str]]:
        """Returns the columns of each part; raises a UserError if one is unknown, missing or
        repeated.
        """
        words = self.known(self.shape.columns)
        columns = [head.text.partition("|")[2].replace("|", " ").split() for head in heads]
        for head, part in zip(heads, columns, strict=True):
            for column in part:
                if column not in words:
                    raise head.error(
                        column, f"one of {' '.join(words)}.{suggestion(column, words)}"
                    )
        needed = set(names()[self.shape.columns]).difference(self.shape.optional)
        all_columns = [column for part in columns for column in part]
        for column in words:
            if all_columns.count(column) > 1 or (column in needed and column not in all_columns):
                how_often = "twice" if column in all_columns else "not at all"
                raise heads[0].error(
                    heads[0].text.strip(), f"{column} once, it stands here {how_often}"
                )
        return columns

    def key(self, line: FileLine) -> tuple[str, list[str]]:
        left = line.text.partition("|")[0]
        match = re.fullmatch(r"\s*([^\[\]]*?)\s*(?:\[([^\[\]]*)\]\s*)?", left)
        if not match:
            raise line.error(left.strip(), "the row's name and perhaps a tag, such as M [moesi]")
        words, tags = match[1].split(), re.split(r"[\s,]+", match[2].strip()) if match[2] else []
        if len(words) != len(self.shape.rows):
            raise line.error(match[1], f"the {self.shape.head} of a row, {len(words)} words read")
        for word, kind in zip(words, self.shape.rows, strict=True):
            known = self.known(kind)
            if word not in known:
                raise line.error(word, f"one of {' '.join(known)}.{suggestion(word, known)}")
        if words[0] in self.shape.omitted:
            raise line.error(match[1], f"no such row here: {self.shape.reason}")
        return " ".join(words), tags

    def applies(self, line: FileLine, tags: list[str]) -> bool:
        for tag in tags:
            if tag not in VARIANTS:
                raise line.error(
                    f"[{tag}]", f"one of {', '.join(VARIANTS)}.{suggestion(tag, VARIANTS)}"
                )
        return self.variant in tags

    def cells(self, line: FileLine, columns: list[str]) -> list[Cell]:
        texts = line.text.partition("|")[2].replace("|", " ").split()
        if len(texts) != len(columns):
            raise line.error(
                f"{len(texts)} cells",
                f"{len(columns)}, one for each of {' '.join(columns)}; a cell that cannot happen"
                " is written !reason",
            )
        return [self.cell(line, text) for text in texts]

    def cell(self, line: FileLine, text: str) -> Cell:
        if text.startswith("!"):
            if text[1:] not in self.reasons:
                raise line.error(
                    text,
                    f"a reason stated in this file; add a line '{text[1:] or 'reason'}: why'."
                    f"{suggestion(text[1:], self.reasons)}",
                )
            self.used.add(text[1:])
            return Cell(reason=self.reasons[text[1:]][1], text=text)
        if text == NO_ACTIONS and self.shape.actions:
            return Cell(text=text)
        left, arrow, after = text.partition(">")
        if self.shape.actions is None:
            left, arrow, after = "", ">", text
        actions = tuple(left.split("+")) if left else ()
        self.check_actions(line, text, actions)
        self.check_next(line, text, after if arrow else None)
        if "stall" in actions and text != "stall":
            raise line.error(text, "'stall' alone: what waits does nothing else")
        return Cell(actions, after or None, text=text)

    def check_next(self, line: FileLine, text: str, after: str | None) -> None:
        words = self.known(self.shape.leads_to)
        if after is None or after in words:
            return
        if not words:
            raise line.error(text, f"actions only: the {self.shape.head} follow from the answers")
        kind = self.shape.leads_to.removesuffix("s")
        raise line.error(text, f"a {kind}: one of {' '.join(words)}.{suggestion(after, words)}")

    def check_actions(self, line: FileLine, text: str, actions: tuple[str, ...]) -> None:
        words = names()[self.shape.actions] if self.shape.actions else []
        for action in actions:
            if action not in words:
                raise line.error(
                    action or text,
                    f"actions joined by '+', of {' '.join(words)}.{suggestion(action, words)}",
                )
            if actions.count(action) > 1:
                raise line.error(text, f"each action once, '{action}' stands here twice")
        if self.shape.ordered and list(actions) != sorted(actions, key=words.index):
            raise line.error(text, f"actions in the order they are done: {' '.join(words)}")

    def all_rows(self) -> Iterator[str]:
        first, *other_kinds = (self.known(kind) for kind in self.shape.rows)
        for word in first:
            yield from (f"{word} {other}" for other in other_kinds[0]) if other_kinds else (word,)

    def omitted_cells(
        self,
        row: str,
        section: TableSection,
        columns: list[str],
        selected: dict[str, tuple[bool, list[Cell]]],
    ) -> list[Cell]:
        """Returns the cells of a row that files omit. They are impossible, except in row R of the
        join table, which equals row W.
        """
        first, _, waits = row.partition(" ")
        if first not in self.shape.omitted:
            raise section.head.error(self.shape.name, f"a row for {row}: it is missing below")
        if self.shape.name == "join" and first == "R":
            return selected[f"W {waits}"][1]
        impossible = Cell(reason=self.shape.reason, text="!")
        return [impossible] * len(columns)
