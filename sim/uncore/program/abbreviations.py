"""Reads each of DWARF's abbreviations when it is first needed.

pyelftools reads a unit's whole table before its first entry, which takes a second for Rust's
library; but one line of the table is enough to find a unit's language and skip it.  Import this
only together with pyelftools.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from elftools.common.utils import struct_parse
from elftools.dwarf.abbrevtable import AbbrevDecl, AbbrevTable

_IMPLICIT_CONST = 0x21  # DW_FORM_implicit_const, which is followed by its value


class Abbreviations(AbbrevTable):
    """An abbreviation table of which only the requested lines are decoded."""

    def _parse_abbrev_table(self) -> dict[int, AbbrevDecl]:
        self.stream.seek(0)
        self._bytes = self.stream.read()
        self._line_offsets: dict[int, int] = {}  # offsets by code
        self._next_offset = self.offset
        return {}

    def get_abbrev(self, code: int) -> AbbrevDecl:
        if code not in self._abbrev_map:
            self.stream.seek(self._line_offset(code))
            line = struct_parse(self.structs.Dwarf_abbrev_declaration, self.stream)
            self._abbrev_map[code] = AbbrevDecl(code, line)
        return self._abbrev_map[code]

    def _line_offset(self, code: int) -> int:
        while code not in self._line_offsets:
            code_found, start = self._number(self._next_offset)
            if code_found == 0:
                raise KeyError(code)
            self._line_offsets[code_found], self._next_offset = start, self._end(start)
        return self._line_offsets[code]

    def _end(self, position: int) -> int:
        """Returns the offset after a line of the table, which has a tag, a byte, and pairs of a
        name and a form.
        """
        name, position = self._number(position)
        position += 1
        while name:
            name, position = self._number(position)
            form, position = self._number(position)
            if form == _IMPLICIT_CONST:
                _, position = self._number(position)
        return position

    def _number(self, position: int) -> tuple[int, int]:
        """Decodes a LEB128 number; returns it and the offset after it."""
        value = shift = 0
        while True:
            byte = self._bytes[position]
            position += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value, position
            shift += 7


def read_on_demand(dwarf: Any) -> None:
    """Makes all units of `dwarf` read their abbreviations on demand."""
    stream = dwarf.debug_abbrev_sec.stream
    dwarf.get_abbrev_table = cache(lambda offset: Abbreviations(dwarf.structs, stream, offset))
