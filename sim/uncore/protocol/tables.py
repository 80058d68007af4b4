"""Loads, checks and packs the protocol tables.

    load("mesi") -> Tables            the shipped tables with the rows for MESI
    load("my/tables") -> Tables       the tables in a directory
    load("my/tables:moesi")           the same, using the rows tagged [moesi]
    pack(tables) -> list[int]         32-bit cells, for the native engine's Protocol

If a user's directory lacks a file, the shipped one is used.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from uncore.errors import UserError, suggestion
from uncore.protocol.aligned import text
from uncore.protocol.reader import MAX_STATES, Reader, TableSource, split
from uncore.protocol.reader import states as states_of
from uncore.protocol.table_shapes import (
    DATA,
    PROTOCOL_FOLDERS,
    PROTOCOLS,
    SHAPES,
    VARIANTS,
    Table,
    names,
)

SHIPPED = Path(__file__).parent
IMPOSSIBLE = 1 << 31


@dataclass(frozen=True)
class Tables:
    """The tables of the protocol `name`."""

    name: str
    client: Table
    resolver: Table
    grant: Table
    join: Table
    transaction: Table

    def __iter__(self) -> Iterator[Table]:
        return iter((self.client, self.resolver, self.grant, self.join, self.transaction))


def load(name: str) -> Tables:
    """Loads a shipped protocol, or a user's directory of tables (`DIR[:PROTOCOL]`)."""
    if name in VARIANTS:
        return read(name, name, {})
    folder, _, variant = name.rpartition(":") if ":" in name else (name, "", "")
    directory = Path(folder)
    if name in PROTOCOL_FOLDERS:
        folder, variant = PROTOCOL_FOLDERS[name]
        directory = SHIPPED / folder
    if not directory.is_dir():
        raise UserError(
            f"protocol '{name}': expected one of {', '.join(PROTOCOLS)}, or a directory of tables."
            f"{suggestion(name, PROTOCOLS)}"
        )
    if variant and variant not in VARIANTS:
        raise UserError(
            f"protocol '{name}': after the directory expected one of {', '.join(VARIANTS)}"
            f" (which tagged rows to use), read '{variant}'.{suggestion(variant, VARIANTS)}"
        )
    sources = {file: directory / file for file in files() if (directory / file).is_file()}
    if not sources:
        raise UserError(f"protocol '{name}': none of {', '.join(files())} is in {directory}")
    return read(name, variant, {file: TableSource.of(path) for file, path in sources.items()})


def stored_texts(tables: Tables) -> tuple[tuple[str, str], ...]:
    """Returns a protocol's files in the form in which a machine stores them, without comments and
    rows of other protocols.
    """
    return tuple(
        (file, text(*(table for table in tables if table.shape.file == file))) for file in files()
    )


def of(name: str, texts: Iterable[tuple[str, str]]) -> Tables:
    """Returns a machine's protocol: the shipped one of that name, or if the machine stores texts,
    the protocol in these texts.
    """
    sources_given = {
        file: TableSource(Path(f"protocol '{name}'", file), text) for file, text in texts
    }
    return read(name, "", sources_given) if sources_given else load(name)


def read(name: str, variant: str, sources_given: Mapping[str, TableSource]) -> Tables:
    """Reads every table, with the rows tagged for `variant`. Files that are not in `given` are
    taken from the shipped tables.
    """
    tables: dict[str, Table] = {}
    states: tuple[str, ...] = ()
    for file in files():
        source = sources_given[file] if file in sources_given else TableSource.of(SHIPPED / file)
        sections, reasons = split(source)
        if file == SHAPES[0].file:
            states = states_of(sections, variant)
        used_reasons: set[str] = set()
        for shape in SHAPES:
            if shape.file == file:
                reader = Reader(shape, source.path, variant, states, reasons, used_reasons)
                tables[shape.name] = reader.table(sections)
        for word in reasons.keys() - used_reasons:
            raise reasons[word][0].error(
                f"{word}:", f"a reason that a cell of this file gives as !{word}; delete the line"
            )
    loaded = Tables(name, **tables)
    refuse_right_without_data(loaded)
    refuse_passing_to_nobody(loaded)
    return loaded


def refuse_right_without_data(tables: Tables) -> None:
    """Refuses a grant table with a right for which the client table has no data event."""
    for (row, column), cell in tables.grant.cells.items():
        if cell.next not in (None, "I") and DATA + cell.next not in tables.client.columns:
            raise UserError(
                f"protocol '{tables.name}': {row}/{column} grants {cell.next}, expected a state"
                f" with a column {DATA}{cell.next} in {tables.client.shape.file}"
            )


def refuse_passing_to_nobody(tables: Tables) -> None:
    """Refuses a client table that passes lines on if the grant table has no right for that."""
    passes = next(
        (place for place, cell in tables.client.cells.items() if "pass" in cell.actions), None
    )
    if passes and "passed" not in tables.grant.columns:
        raise UserError(
            f"protocol '{tables.name}': {'/'.join(passes)} passes the line on, expected a column"
            f" passed of the table '{tables.grant.shape.head}' in {tables.grant.shape.file}"
        )


def shipped_in(tables: Tables) -> tuple[str, ...]:
    """Returns the files of a user's protocol whose contents equal the shipped ones."""
    texts = dict(stored_texts(tables))
    if tables.name in PROTOCOLS and texts == dict(stored_texts(load(tables.name))):
        return ()
    shipped_texts = [dict(stored_texts(load(variant))) for variant in VARIANTS]
    return tuple(
        file
        for file in files()
        if any(texts[file] == shipped_text[file] for shipped_text in shipped_texts)
    )


def files() -> list[str]:
    return list(dict.fromkeys(shape.file for shape in SHAPES))


def layout(tables: Tables) -> Iterator[tuple[Table, str, str] | None]:
    """Yields (table, row, column) of each native cell; None for cells that this protocol lacks."""
    for table in tables:
        rows, columns = list(table.rows), names()[table.shape.columns]
        if table is tables.client:
            rows += [""] * (MAX_STATES - len(rows))
            columns = columns + [DATA + row for row in rows]
        for row, column in product(rows, columns):
            yield (table, row, column) if (row, column) in table.cells else None


def pack(tables: Tables) -> list[int]:
    """Returns the number of states, each state's name in two words, then all cells, row by row."""
    states = tables.client.rows
    packed = [len(states)]
    for state in states:
        letters = state.encode().ljust(8, b"\0")
        packed += [int.from_bytes(letters[:4], "little"), int.from_bytes(letters[4:], "little")]
    encoders = {table.shape.name: CellEncoder(table, states) for table in tables}
    for position in layout(tables):
        packed.append(
            encoders[position[0].shape.name].encode(*position[1:]) if position else IMPOSSIBLE
        )
    return packed


class CellEncoder:
    """Encodes cells of one table as the 32 bits of the native engine: the next state or phase, and
    a bit for each action.
    """

    def __init__(self, table: Table, states: Sequence[str]) -> None:
        shape, self.cells = table.shape, table.cells
        actions = names()[shape.actions] if shape.actions else []
        next_codes = states if shape.leads_to == "states" else names().get(shape.leads_to, [])
        self.bits = {action: 1 << (8 + number) for number, action in enumerate(actions)}
        self.next_codes = {name: number for number, name in enumerate(next_codes)}
        self.stays = shape.rows == (shape.leads_to,)  # a cell without > keeps the state or phase

    def encode(self, row: str, column: str) -> int:
        cell = self.cells[row, column]
        if not cell.possible:
            return IMPOSSIBLE
        next_name = cell.next or (row if self.stays else None)
        next_codes = self.next_codes[next_name] if next_name else 0
        return next_codes | sum(self.bits[action] for action in cell.actions)
