"""Scans DWARF's .debug_info quickly, to find the entries worth reading.

    info = DebugInfo.of(elf_bytes)      None: it is missing, compressed, or of the 64-bit format
    info.languages() -> {0: 0x1c, ...}  DW_AT_language of the compilation unit at each offset
    info.statics(0) -> [0x2a, ...]      offsets of a unit's variables with a fixed address

pyelftools reads every entry that it skips, which takes a tenth of a second or more per program.
Damaged information raises one of DAMAGE_ERRORS.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from uncore.program.elf import section

DAMAGE_ERRORS = (struct.error, IndexError, KeyError, ValueError)

_COMPILE_UNIT, _VARIABLE, _SUBPROGRAM = 0x11, 0x34, 0x2E  # tags
_LOCATION, _LANGUAGE = 0x02, 0x13  # attributes
_ADDRESS_OP = 3
# Forms of attributes, grouped by their encoding: a fixed number of bytes, a LEB128 number, a block
# that begins with its length, or a text.
_FIXED_SIZES = {
    **{0x01: 8, 0x05: 2, 0x06: 4, 0x07: 8, 0x0B: 1, 0x0C: 1, 0x0E: 4, 0x10: 4, 0x11: 1, 0x12: 2},
    **{0x13: 4, 0x14: 8, 0x17: 4, 0x19: 0, 0x1C: 4, 0x1D: 4, 0x1E: 16, 0x1F: 4, 0x20: 8, 0x21: 0},
    **{0x24: 8, 0x25: 1, 0x26: 2, 0x27: 3, 0x28: 4, 0x29: 1, 0x2A: 2, 0x2B: 3, 0x2C: 4},
}
_NUMBER_FORMS = frozenset({0x0D, 0x0F, 0x15, 0x1A, 0x1B, 0x22, 0x23})
_COUNT_SIZES = {0x0A: 1, 0x03: 2, 0x04: 4}
_COUNTED_FORMS, _STRING_FORM, _IMPLICIT_CONST = frozenset({0x09, 0x18}), 0x08, 0x21
_EXPRESSION = 0x18
_LEB, _LEB_NOT_0 = rb"[\x80-\xff]*+[\0-\x7f]", rb"[\x80-\xff]*+[\x01-\x7f]"
# An abbreviation: its code, a tag, a flag for children, and attributes up to two zeros.
_ENTRY_PATTERN = re.compile(
    rb"(%b)(%b)([\0\1])((?>(?:%b(?>\x21%b|%b))*))\0\0" % (_LEB_NOT_0, _LEB, _LEB_NOT_0, _LEB, _LEB)
)
_COMPILED, _PARTIAL = 1, 3  # kinds of DWARF 5 units that have the usual header


class Abbreviation(NamedTuple):
    """The description of all entries with one code."""

    tag: int
    has_children: bool
    attributes: tuple[tuple[int, int, int], ...]  # name, form and constant
    size: int | None  # bytes of the attributes, if they always have the same size


@dataclass(frozen=True)
class DebugInfo:
    """Contents of the sections .debug_info and .debug_abbrev."""

    info: bytes
    abbreviations: bytes

    @classmethod
    def of(cls, data: bytes) -> DebugInfo | None:
        info, abbreviations = (section(data, name) for name in (".debug_info", ".debug_abbrev"))
        return None if info is None or abbreviations is None else cls(info, abbreviations)

    def languages(self) -> dict[int, int]:
        """Returns the language of each unit, by the unit's offset; 0 if the unit states none."""
        language_of, offset, tables = {}, 0, cache(self._table)
        while offset < len(self.info):
            entry, end, table = self._head(offset)
            code, entry = _number(self.info, entry)
            language_of[offset] = self._language(entry, _abbreviation(*tables(table)[code]))
            offset = end
        return language_of

    def statics(self, unit: int) -> Iterator[int]:
        """Yields the offsets of the unit's static variables, including those of functions, in
        ascending order.
        """
        position, end, offset = self._head(unit)
        table = self._table(offset)
        # For each enclosing entry: True if variables declared in it are collected.
        enclosing: list[bool] = []
        while position < end:
            start = position
            code, position = _number(self.info, position)
            if not code:
                enclosing.pop()
            else:
                abbreviation = _abbreviation(*table[code])
                is_collected = all(enclosing[-1:])
                if (
                    is_collected
                    and abbreviation.tag == _VARIABLE
                    and self._has_fixed_address(position, abbreviation)
                ):
                    yield start
                if abbreviation.has_children:
                    has_variables = abbreviation.tag in (_COMPILE_UNIT, _SUBPROGRAM)
                    enclosing.append(is_collected and has_variables)
                position = self._after_entry(position, abbreviation)
            if not enclosing:
                return

    def _head(self, unit_offset: int) -> tuple[int, int, int]:
        """Returns the offsets of a unit's first entry, of its end, and of its abbreviations."""
        size, version = struct.unpack_from("<IH", self.info, unit_offset)
        if version < 5:
            (table,) = struct.unpack_from("<I", self.info, unit_offset + 6)
            return unit_offset + 11, unit_offset + 4 + size, table
        kind, _, table = struct.unpack_from("<BBI", self.info, unit_offset + 6)
        if kind not in (_COMPILED, _PARTIAL):
            raise KeyError(kind)
        return unit_offset + 12, unit_offset + 4 + size, table

    def _table(self, position: int) -> dict[int, tuple[bytes, bytes, bytes]]:
        """Returns the abbreviations by code, not decoded, because most are never used."""
        table = {}
        while entry := _ENTRY_PATTERN.match(self.abbreviations, position):
            table[_number(entry[1], 0)[0]] = (entry[2], entry[3], entry[4])
            position = entry.end()
        return table

    def _language(self, position: int, abbreviation: Abbreviation) -> int:
        for name, form, constant in abbreviation.attributes:
            if name == _LANGUAGE:
                value = int.from_bytes(
                    self.info[position : position + _FIXED_SIZES[form]], "little"
                )
                return constant if form == _IMPLICIT_CONST else value
            position = self._after_attribute(position, form)
        return 0

    def _has_fixed_address(self, position: int, abbreviation: Abbreviation) -> bool:
        """True if an entry's location begins with an address."""
        for name, form, _ in abbreviation.attributes:
            if name == _LOCATION:
                _, first = _number(self.info, position)
                return form == _EXPRESSION and self.info[first] == _ADDRESS_OP
            position = self._after_attribute(position, form)
        return False

    def _after_entry(self, position: int, abbreviation: Abbreviation) -> int:
        if abbreviation.size is not None:
            return position + abbreviation.size
        for _, form, _ in abbreviation.attributes:
            position = self._after_attribute(position, form)
        return position

    def _after_attribute(self, position: int, form: int) -> int:
        """Returns the offset after an attribute."""
        if form in _FIXED_SIZES:
            return position + _FIXED_SIZES[form]
        if form in _NUMBER_FORMS:
            return _number(self.info, position)[1]
        if form in _COUNTED_FORMS:
            size, position = _number(self.info, position)
            return position + size
        if form == _STRING_FORM:
            return self.info.index(b"\0", position) + 1
        size = _COUNT_SIZES[form]
        return position + size + int.from_bytes(self.info[position : position + size], "little")


@cache
def _abbreviation(tag: bytes, has_children: bytes, attributes: bytes) -> Abbreviation:
    decoded = tuple(_decode(attributes))
    sizes = [_FIXED_SIZES.get(form) for _, form, _ in decoded]
    size = None if None in sizes else sum(size or 0 for size in sizes)
    return Abbreviation(_number(tag, 0)[0], has_children == b"\1", decoded, size)


def _decode(attributes: bytes) -> Iterator[tuple[int, int, int]]:
    position = 0
    while position < len(attributes):
        name, position = _number(attributes, position)
        form, position = _number(attributes, position)
        constant, position = (
            _number(attributes, position) if form == _IMPLICIT_CONST else (0, position)
        )
        yield name, form, constant


def _number(data: bytes, position: int) -> tuple[int, int]:
    """Decodes a LEB128 number; returns it and the offset after it."""
    value = data[position]
    position += 1
    if value < 0x80:
        return value, position
    value, shift = value & 0x7F, 7
    while True:
        byte = data[position]
        value, shift, position = value | (byte & 0x7F) << shift, shift + 7, position + 1
        if byte < 0x80:
            return value, position
