"""Go's own table of functions and lines, which is there when debug information is not.

    table = find(segments)       None: no program of Go, or of a version before 1.20
    table.at(pc)                 (Frame("main.(*Bank).add", "bank.go", 14), Frame("main.main", ...))
    table.functions              Symbol(address, size, "main.main") of each, by address

Go's runtime unwinds by this table (pclntab), so no linker's flag leaves it out. Its layout is that
of runtime/symtab.go and internal/abi/symtab.go, from version 1.20 on.
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
_HEADER = struct.Struct("<4x2xBB8Q")  # step, word; functions, files, unused, five tables' offsets
_MODULE = struct.Struct("<Q168xQ136xQ")  # moduledata: the table, the text, and the base of funcdata
_FUNCTION = struct.Struct("<IiiIIIIIIiBBxB")
_INLINED = struct.Struct("<4xiii")  # name, where its caller is, first line
_FILE, _LINE, _CALL = 5, 6, 2  # indices in _FUNCTION; the tree of calls is pcdata 2, funcdata 3
_TREE = 3
_NONE = 0xFFFFFFFF
_DAMAGED = (struct.error, IndexError, ValueError, OverflowError)
_DEEPEST = 64  # calls inlined in each other
_LONGEST_NUMBER = 5  # bytes of 32 bits


def find(segments: Sequence[Segment]) -> GoTable | None:
    """The table of a program of Go."""
    for segment in segments:
        at = segment.data.find(_MAGIC)
        while at >= 0:
            module = _module(segments, segment.address + at)
            if module and segment.data[at + 7] == abi.WORD:
                table = GoTable(segment.data[at:], *module, tuple(segments))
                return table if table.functions else None
            at = segment.data.find(_MAGIC, at + 1)
    return None


def _module(segments: Sequence[Segment], table: int) -> tuple[int, int] | None:
    """Addresses of the text and of funcdata's base, as the module's data state them."""
    for segment in segments:
        at = segment.data.find(table.to_bytes(8, "little")) if segment.rights & 2 else -1
        while 0 <= at <= len(segment.data) - _MODULE.size:
            _, text, functions = _MODULE.unpack_from(segment.data, at)
            if any(text in code and code.rights & 4 for code in segments):
                return text, functions
            at = segment.data.find(table.to_bytes(8, "little"), at + 8)
    return None


@dataclass(frozen=True)
class GoTable:
    """The table of one program."""

    data: bytes
    text: int
    trees: int  # base of the offsets of trees
    segments: tuple[Segment, ...]

    @cached_property
    def _parts(self) -> tuple[int, ...]:
        step, _, many, _, _, *offsets = _HEADER.unpack_from(self.data)
        return step, many, *offsets

    @cached_property
    def _entries(self) -> tuple[list[int], list[int]]:
        """Addresses at which functions begin, with the end behind them, and offsets of their
        descriptions.
        """
        _, many, *_, at = self._parts
        words = struct.unpack_from(f"<{2 * many + 1}I", self.data, at)
        return [self.text + word for word in words[::2]], [at + word for word in words[1::2]]

    @cached_property
    def functions(self) -> tuple[Symbol, ...]:
        """All of them, by address."""
        try:
            starts, described = self._entries
            names = self._names([_FUNCTION.unpack_from(self.data, at)[1] for at in described])
        except _DAMAGED:
            return ()
        spans = zip(starts, starts[1:], names, strict=False)
        return tuple(Symbol(start, end - start, name) for start, end, name in spans)

    def _names(self, places: Sequence[int]) -> list[str]:
        """The names that stand there; ValueError where they overlap far more than Go's do."""
        known: dict[int, str] = {}
        left = MAX_OVERLAP * len(self.data)
        for at in places:
            if at not in known:
                known[at] = self._name(at)
                left -= len(known[at])
            if left < 0:
                raise ValueError("names overlap")
        return [known[at] for at in places]

    def at(self, pc: int) -> tuple[Frame, ...]:
        """The functions that the instruction is in, the innermost inlined one first."""
        starts, described = self._entries
        number = bisect.bisect_right(starts, pc) - 1
        if not 0 <= number < len(described):
            return ()
        try:
            frames = tuple(self._frames(starts[number], described[number], pc))
        except _DAMAGED:  # a damaged table must not stop a run
            return ()
        return frames if all(frame.path for frame in frames) else ()

    def _frames(self, start: int, at: int, pc: int) -> Iterator[Frame]:
        function = _FUNCTION.unpack_from(self.data, at)
        many, tables = function[7], at + _FUNCTION.size
        tree = self._word(tables + 4 * (many + _TREE)) if function[-1] > _TREE else _NONE
        calls = self._word(tables + 4 * _CALL) if many > _CALL and tree != _NONE else 0
        for _ in range(_DEEPEST):
            inlined = self._value(calls, start, pc) if calls else -1
            name, back = function[1], 0
            if inlined >= 0:
                name, back, _ = _INLINED.unpack(self._read(self.trees + tree + 16 * inlined, 16))
            path = self._file(function[8], self._value(function[_FILE], start, pc))
            yield Frame(self._name(name), path, self._value(function[_LINE], start, pc))
            if inlined < 0:
                return
            pc = start + back

    def _value(self, table: int, start: int, pc: int) -> int:
        """Value of a table of differences at `pc`; -1 if it has none."""
        step, *_ = self._parts
        at, value, here = self._parts[5] + table, -1, start
        while True:
            change, at = self._number(at)
            if not change and here != start:
                return -1
            value += change >> 1 ^ -(change & 1)
            more, at = self._number(at)
            if not more:
                raise ValueError("a difference without instructions")
            here += more * step
            if pc < here:
                return value

    def _number(self, at: int) -> tuple[int, int]:
        """Seven bits a byte, the lowest first; and where the next one is."""
        value = 0
        for n in range(_LONGEST_NUMBER):
            byte = self.data[at + n]
            value |= (byte & 127) << 7 * n
            if byte < 128:
                return value, at + n + 1
        raise ValueError("a number without end")

    def _file(self, unit: int, number: int) -> str:
        _, _, _, units, files, *_ = self._parts
        word = self._word(units + 4 * (unit + number)) if number >= 0 else _NONE
        return "" if word == _NONE else self._text(files + word)

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
