"""The protocol tables: loaded, checked, packed.

    load("mesi") -> Tables            the shipped tables, as they read for MESI
    load("my/tables") -> Tables       a directory with such files
    load("my/tables:moesi")           the same, with the rows tagged [moesi]; without: untagged rows
    pack(tables) -> list[int]         32-bit cells, as the constructor of native's Protocol wants

A file that a user's directory lacks is taken from the shipped tables.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from uncore.errors import UserError, nearest
from uncore.protocol.reader import Reader, split
from uncore.protocol.shapes import PROTOCOLS, SHAPES, Table, names

SHIPPED = Path(__file__).parent
IMPOSSIBLE = 1 << 31


@dataclass(frozen=True)
class Tables:
    """The protocol `name`."""

    name: str
    client: Table
    resolver: Table
    grant: Table
    join: Table
    transaction: Table

    def __iter__(self) -> Iterator[Table]:
        return iter((self.client, self.resolver, self.grant, self.join, self.transaction))


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


def pack(tables: Tables) -> list[int]:
    """All cells, row by row in native order: client, resolver, grant, join, transaction."""
    packed = []
    for table in tables:
        shape = table.shape
        actions = names()[shape.actions] if shape.actions else []
        bits = {action: 1 << (8 + number) for number, action in enumerate(actions)}
        after = {name: number for number, name in enumerate(names().get(shape.leads_to, []))}
        for row in table.rows:
            stays = after[row] if shape.rows == (shape.leads_to,) else 0
            for column in table.columns:
                cell = table[row, column]
                following = after[cell.next] if cell.next else stays
                word = following | sum(bits[action] for action in cell.actions)
                packed.append(word if cell.possible else IMPOSSIBLE)
    return packed
