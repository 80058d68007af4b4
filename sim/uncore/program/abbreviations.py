"""DWARF's abbreviations, read one by one as they are asked for.

pyelftools reads a unit's whole table before its first entry, which of Rust's library takes a
second; who skips a unit by its language needs one line of it.  Imported where pyelftools is.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from elftools.common.utils import struct_parse
from elftools.dwarf.abbrevtable import AbbrevDecl, AbbrevTable

_IMPLICIT_CONST = 0x21  # DW_FORM_implicit_const: its value follows


class Abbreviations(AbbrevTable):
    """A table of which only the lines that are asked for are read."""

    def _parse_abbrev_table(self) -> dict[int, AbbrevDecl]:
        self.stream.seek(0)
        self._bytes = self.stream.read()
        self._places: dict[int, int] = {}  # by code
        self._behind = self.offset
        return {}

    def get_abbrev(self, code: int) -> AbbrevDecl:
        if code not in self._abbrev_map:
            self.stream.seek(self._place(code))
            line = struct_parse(self.structs.Dwarf_abbrev_declaration, self.stream)
            self._abbrev_map[code] = AbbrevDecl(code, line)
        return self._abbrev_map[code]

    def _place(self, code: int) -> int:
        while code not in self._places:
            found, start = self._number(self._behind)
            if found == 0:
                raise KeyError(code)
            self._places[found], self._behind = start, self._end(start)
        return self._places[code]

    def _end(self, at: int) -> int:
        """Offset behind a line of the table: a tag, a byte, and pairs of a name and a form."""
        name, at = self._number(at)
        at += 1
        while name:
            name, at = self._number(at)
            form, at = self._number(at)
            if form == _IMPLICIT_CONST:
                _, at = self._number(at)
        return at

    def _number(self, at: int) -> tuple[int, int]:
        """A LEB128, and what is behind it."""
        value = shift = 0
        while True:
            byte = self._bytes[at]
            at += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value, at
            shift += 7


def read_as_asked(dwarf: Any) -> None:
    """Has all units of `dwarf` read their abbreviations so."""
    stream = dwarf.debug_abbrev_sec.stream
    dwarf.get_abbrev_table = cache(lambda offset: Abbreviations(dwarf.structs, stream, offset))
