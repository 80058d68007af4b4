"""Reads Go's own table of functions and lines, which exists even without debug information.

    table = find(segments)       None if the program is not in Go, or in a version before 1.20
    table.at(pc)                 (Frame("main.(*Bank).add", "bank.go", 14), Frame("main.main", ...))
    table.functions              Symbol(address, size, "main.main") of each function, by address

Go's runtime unwinds by this table (pclntab), so no linker's flag removes it. Its layout is that of
runtime/symtab.go and internal/abi/symtab.go, from version 1.20 on.
"""

from __future__ import annotations

import bisect
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from uncore.program import abi
from uncore.program.elf import MAX_OVERLAP, Segment, Symbol
from uncore.program.frames import Frame

_MAGIC = b"\xf1\xff\xff\xff\0\0"
# step, word size; counts of functions and files, unused, offsets of five tables
_HEADER = struct.Struct("<4x2xBB8Q")
# fields of Go's moduledata: addresses of the table, of the text, and of funcdata's base
_MODULE = struct.Struct("<Q168xQ136xQ")
_FUNCTION = struct.Struct("<IiiIIIIIIiBBxB")
_INLINED = struct.Struct("<4xiii")  # name, position of its call in the caller, first line
# indices of columns in _FUNCTION, and of pcdata for inlined calls; _TREE is the index of their
# funcdata
_FILE, _LINE, _CALL = 5, 6, 2
_TREE = 3
_ABSENT = 0xFFFFFFFF
_DAMAGE_ERRORS = (struct.error, IndexError, ValueError, OverflowError)
_MAX_INLINED_CALLS = 64  # limit of nested inlined calls
_MAX_NUMBER_BYTES = 5  # bytes of an encoded 32-bit number


def find(segments: Sequence[Segment]) -> GoTable | None:
    """Returns the table of a Go program, or None."""
    for segment in segments:
        position = segment.data.find(_MAGIC)
        while position >= 0:
            module = _module(segments, segment.address + position)
            if module and segment.data[position + 7] == abi.WORD_BYTES:
                table = GoTable(segment.data[position:], *module, tuple(segments))
                return table if table.functions else None
            position = segment.data.find(_MAGIC, position + 1)
    return None


def _module(segments: Sequence[Segment], table: int) -> tuple[int, int] | None:
    """Returns the addresses of the text and of funcdata's base, from the module's data."""
    for segment in segments:
        position = segment.data.find(table.to_bytes(8, "little")) if segment.rights & 2 else -1
        while 0 <= position <= len(segment.data) - _MODULE.size:
            _, text, functions = _MODULE.unpack_from(segment.data, position)
            if any(text in code and code.rights & 4 for code in segments):
                return text, functions
            position = segment.data.find(table.to_bytes(8, "little"), position + 8)
    return None


@dataclass(frozen=True)
class GoTable:
    """The table of one program."""

    data: bytes
    text: int
    trees: int  # base address of the trees of inlined calls
    segments: tuple[Segment, ...]

    @cached_property
    def _parts(self) -> tuple[int, ...]:
        step, _, function_count, _, _, *offsets = _HEADER.unpack_from(self.data)
        return step, function_count, *offsets

    @cached_property
    def _entries(self) -> tuple[list[int], list[int]]:
        """Start addresses of functions and the end of the last, and the offsets of their
        descriptions.
        """
        _, function_count, *_, at = self._parts
        words = struct.unpack_from(f"<{2 * function_count + 1}I", self.data, at)
        return [self.text + word for word in words[::2]], [at + word for word in words[1::2]]

    @cached_property
    def functions(self) -> tuple[Symbol, ...]:
        """All functions, by address; () if the table is damaged."""
        try:
            starts, descriptions = self._entries
            names = self._names([_FUNCTION.unpack_from(self.data, at)[1] for at in descriptions])
        except _DAMAGE_ERRORS:
            return ()
        spans = zip(starts, starts[1:], names, strict=False)
        return tuple(Symbol(start, end - start, name) for start, end, name in spans)

    def _names(self, name_offsets: Sequence[int]) -> list[str]:
        """Returns the names at these offsets; raises ValueError if they overlap more than the names
        of any real program.
        """
        name_at: dict[int, str] = {}
        bytes_left = MAX_OVERLAP * len(self.data)
        for at in name_offsets:
            if at not in name_at:
                name_at[at] = self._name(at)
                bytes_left -= len(name_at[at])
            if bytes_left < 0:
                raise ValueError("names overlap")
        return [name_at[at] for at in name_offsets]

    def at(self, pc: int) -> tuple[Frame, ...]:
        """Returns the functions that contain the instruction, the innermost inlined one first."""
        starts, descriptions = self._entries
        number = bisect.bisect_right(starts, pc) - 1
        if not 0 <= number < len(descriptions):
            return ()
        try:
            frames = tuple(self._frames(starts[number], descriptions[number], pc))
        except _DAMAGE_ERRORS:  # a damaged table must not stop a run
            return ()
        return frames if all(frame.path for frame in frames) else ()

    def _frames(self, start: int, at: int, pc: int) -> Iterator[Frame]:
        function = _FUNCTION.unpack_from(self.data, at)
        pcdata_count, tables = function[7], at + _FUNCTION.size
        tree = self._word(tables + 4 * (pcdata_count + _TREE)) if function[-1] > _TREE else _ABSENT
        calls = self._word(tables + 4 * _CALL) if pcdata_count > _CALL and tree != _ABSENT else 0
        for _ in range(_MAX_INLINED_CALLS):
            inlined = self._value(calls, start, pc) if calls else -1
            name, call_offset = function[1], 0
            if inlined >= 0:
                name, call_offset, _ = _INLINED.unpack(
                    self._read(self.trees + tree + 16 * inlined, 16)
                )
            path = self._file(function[8], self._value(function[_FILE], start, pc))
            yield Frame(self._name(name), path, self._value(function[_LINE], start, pc))
            if inlined < 0:
                return
            pc = start + call_offset

    def _value(self, table: int, start: int, pc: int) -> int:
        """Returns the value at `pc` of a table that stores differences; -1 if it has none."""
        step, *_ = self._parts
        at, value, end_pc = self._parts[5] + table, -1, start
        while True:
            difference, at = self._number(at)
            if not difference and end_pc != start:
                return -1
            value += difference >> 1 ^ -(difference & 1)
            instructions, at = self._number(at)
            if not instructions:
                raise ValueError("a difference without instructions")
            end_pc += instructions * step
            if pc < end_pc:
                return value

    def _number(self, at: int) -> tuple[int, int]:
        """Decodes a number with seven bits in each byte, the lowest first; returns it and the
        offset after it.
        """
        value = 0
        for n in range(_MAX_NUMBER_BYTES):
            byte = self.data[at + n]
            value |= (byte & 127) << 7 * n
            if byte < 128:
                return value, at + n + 1
        raise ValueError("a number without end")

    def _file(self, unit: int, number: int) -> str:
        _, _, _, units, files, *_ = self._parts
        word = self._word(units + 4 * (unit + number)) if number >= 0 else _ABSENT
        return "" if word == _ABSENT else self._text(files + word)

    def _name(self, at: int) -> str:
        return self._text(self._parts[2] + at)

    def _text(self, at: int) -> str:
        return self.data[at : self.data.index(b"\0", at)].decode(errors="replace")

    def _word(self, at: int) -> int:
        return int.from_bytes(self.data[at : at + 4], "little")

    def _read(self, address: int, size: int) -> bytes:
        for segment in self.segments:
            if address in segment:
                start = address - segment.address
                return segment.data[start : start + size].ljust(size, b"\0")
        return bytes(size)
