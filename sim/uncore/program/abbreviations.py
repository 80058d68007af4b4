"""DWARF's abbreviations, read as far as they are asked for.

pyelftools reads a unit's whole table before its first entry, which of Rust's library takes a second;
who skips a unit by its language needs the first line of it.  Imported where pyelftools is.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from elftools.common.utils import struct_parse
from elftools.dwarf.abbrevtable import AbbrevDecl, AbbrevTable


class Abbreviations(AbbrevTable):
    """A table whose lines behind the last that was asked for are not read."""

    def _parse_abbrev_table(self) -> dict[int, AbbrevDecl]:
        self._behind = self.offset
        return {}

    def get_abbrev(self, code: int) -> AbbrevDecl:
        while code not in self._abbrev_map:
            self.stream.seek(self._behind)
            found = struct_parse(self.structs.the_Dwarf_uleb128, self.stream)
            if found == 0:
                raise KeyError(code)
            line = struct_parse(self.structs.Dwarf_abbrev_declaration, self.stream)
            self._abbrev_map[found] = AbbrevDecl(found, line)
            self._behind = self.stream.tell()
        return self._abbrev_map[code]


def read_as_asked(dwarf: Any) -> None:
    """Has all units of `dwarf` read their abbreviations so."""
    stream = dwarf.debug_abbrev_sec.stream
    dwarf.get_abbrev_table = cache(lambda offset: Abbreviations(dwarf.structs, stream, offset))
