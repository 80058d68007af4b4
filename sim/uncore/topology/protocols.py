"""Reads a machine's protocol, which is a shipped protocol or a user's folder of tables.

    read_protocol(top) -> Protocol      `protocol = "mesi"`, `protocol = "./mine"`

The path of a folder is relative to the machine file that states it, or with --with to the current
folder. The tables are read together with the machine, which stores their text.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from uncore.errors import UserError
from uncore.protocol import tables
from uncore.protocol.table_shapes import PROTOCOLS
from uncore.topology.document import Leaf
from uncore.topology.table_reader import Table
from uncore.topology.units import UnitError


@dataclass(frozen=True)
class Protocol:
    name: str
    texts: tuple[tuple[str, str], ...] = ()  # a user's own tables: file and contents
    source: str = ""

    @cached_property
    def tables(self) -> tables.Tables:
        return tables.of(self.name, self.texts)

    @property
    def keeps_dirty(self) -> bool:
        """Returns True if an owner of dirty data remains responsible for them after a ProbeS, in
        state O.
        """
        return not self.tables.grant["GetS", "dirty"].possible


def read_protocol(top: Table) -> Protocol:
    leaf = top.leaf("protocol")
    base_folder = (
        Path(leaf.place.file).parent if isinstance(leaf, Leaf) and leaf.place.line else Path()
    )

    def parse(text: str) -> Protocol:
        if "/" not in text:
            if text not in PROTOCOLS:
                top.word("protocol")
            return Protocol(text)
        folder, colon, variant = text.partition(":")
        directory = base_folder / folder
        if not directory.is_dir():
            raise UnitError(f"expected a folder of tables; there is none at {directory}")
        try:
            loaded = tables.load(f"{directory}{colon}{variant}")
        except UserError as error:
            raise UnitError(str(error)) from None
        return Protocol(directory.resolve().name, tables.stored_texts(loaded))

    return replace(top.read("protocol", parse), source=leaf.source if leaf else "")
