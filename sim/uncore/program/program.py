"""Defines Program, a guest program: the contents of its ELF, and its initial memory.

    patched(harts=64, values={"hold": "50ns"})  -> [(address, bytes), ...]   initial memory
    patched_elf(...)                            the same as an ELF, for engines that load a file
    canonical({"hold": "0.05us"})               -> {"hold": "50ns"}
    symbol_at(pc), source_line(pc)              names for messages and reports

Invariant: a Program never changes; two with equal `sha256` behave the same.
"""

from __future__ import annotations

import bisect
import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from typing import Any, TypeVar

from uncore.errors import UserError, suggestion
from uncore.program import abi, dwarf, elf, go_table, types
from uncore.program import line_table as lines
from uncore.program.elf import Segment, Symbol
from uncore.program.frames import Frames, demangled
from uncore.program.parameter import TYPES, Parameter

T = TypeVar("T")
Image = list[tuple[int, bytes]]
NOTHING: Mapping[str, object] = {}
_HINT_INSTRUCTION = 0x3013  # sltiu x0, x0, 0


@dataclass(frozen=True)
class ProgramTable:
    """A table, declared in C by UC_TABLE; it has numbers only after a run (readback.tables)."""

    name: str
    unit: str
    help: str
    address: int  # address of its descriptor


@dataclass(frozen=True)
class Program:
    """A guest ELF."""

    name: str
    path: Path
    data: bytes = field(repr=False)

    def __post_init__(self) -> None:
        # A damaged file raises its error here and not at the first use.
        _ = self._elf, self.params, self.tables, self.kinds

    @cached_property
    def sha256(self) -> str:
        """The hash of the ELF's bytes, in hexadecimal."""
        return hashlib.sha256(self.data).hexdigest()

    @cached_property
    def _elf(self) -> elf.Elf:
        return elf.read(self.data, str(self.path))

    @property
    def linux(self) -> bool:
        """True for a Linux program, which runs in user mode; False for a program on bare metal."""
        return self._elf.linux

    @cached_property
    def marked(self) -> bool:
        """True if the code of a Linux program marks the start of the measured part
        (uncore_hints.h).
        """
        hint = (_HINT_INSTRUCTION | abi.CONSTANTS["UC_MARK_ROI_ON"] << 20).to_bytes(4, "little")
        return any(hint in segment.data for segment in self.segments if segment.rights & 4)

    @property
    def headers(self) -> tuple[int, int]:
        """Load address of the program headers, and their number."""
        return self._elf.headers

    @property
    def entry(self) -> int:
        """First pc of every hart; in a Linux program, of its first thread."""
        return self._elf.entry

    @property
    def segments(self) -> tuple[Segment, ...]:
        """The loaded parts."""
        return self._elf.segments

    @property
    def symbols(self) -> tuple[Symbol, ...]:
        """Functions and objects by address; for a stripped Go program, its functions."""
        go = None if self._elf.symbols else self._go
        return go.functions if go else self._elf.symbols

    def symbol(self, name: str) -> Symbol:
        """Returns a symbol by its name; raises KeyError if there is none."""
        return self._by_name[name]

    @cached_property
    def _by_name(self) -> dict[str, Symbol]:
        return {symbol.name: symbol for symbol in self.symbols}

    @cached_property
    def summary(self) -> str:
        """The program's one-sentence description (UC_WORKLOAD), or ""."""
        start, _ = self._elf.sections.get(".uc.summary", (0, 0))
        try:
            return self._elf.text_at(start)
        except ValueError:
            return ""

    @cached_property
    def kinds(self) -> tuple[str, ...]:
        """The names of the program's kinds of operations, by number (UC_KINDS)."""
        start, size = self._elf.sections.get(".uc.kinds", (0, 0))
        try:
            return tuple(self._elf.text_at(start).split("|")) if size else ("operation",)
        except ValueError as error:
            raise self._damage_error(".uc.kinds", error) from error

    @cached_property
    def params(self) -> tuple[Parameter, ...]:
        """The parameters, in the order of the source."""
        return tuple(self._descriptions(".uc.params", "uc_param", self._parameter))

    @cached_property
    def tables(self) -> tuple[ProgramTable, ...]:
        """The tables, in the order of the source."""
        return tuple(self._descriptions(".uc.tables", "uc_table", self._table))

    def _descriptions(
        self, section: str, structure: str, make: Callable[[int, Mapping[str, int]], T]
    ) -> list[T]:
        try:
            return [make(at, words) for at, words in self._elf.structures(section, structure)]
        except ValueError as error:
            raise self._damage_error(section, error) from error

    def _damage_error(self, section: str, error: ValueError) -> UserError:
        return UserError(
            f"{self.path}: its section {section} is damaged ({error}); compile its C file again"
        )

    def _texts(self, words: Mapping[str, int]) -> dict[str, str]:
        return {key: self._elf.text_at(words[key]) for key in ("name", "unit", "help")}

    def _parameter(self, _: int, words: Mapping[str, int]) -> Parameter:
        kind = self._elf.text_at(words["type"])
        if kind not in TYPES:
            raise ValueError(f"type '{kind}' is not one of {', '.join(sorted(TYPES))}")
        default_bytes = self._elf.bytes_at(words["value"], abi.WORD_BYTES)
        default = int.from_bytes(default_bytes, "little", signed=kind == "i64")
        return Parameter(**self._texts(words), type=kind, default=default, address=words["value"])

    def _table(self, address: int, words: Mapping[str, int]) -> ProgramTable:
        return ProgramTable(**self._texts(words), address=address)

    # ---- Before a run ---------------------------------------------------------------------------

    def parameter(self, name: str) -> Parameter:
        """Returns a parameter by its name; raises a UserError that lists all."""
        parameters = {param.name: param for param in self.params}
        if name in parameters:
            return parameters[name]
        descriptions_text = ", ".join(
            f"{p.name} ({p.help}; {p.show(p.default)})" for p in self.params
        )
        parameters_text = (
            f"{self.name} has: {descriptions_text}"
            if descriptions_text
            else f"{self.name} has no parameters"
        )
        raise UserError(
            f"no parameter is called '{name}'.{suggestion(name, parameters)} {parameters_text}"
        )

    def canonical(self, values: Mapping[str, object]) -> dict[str, str]:
        """Returns the values in canonical form: equal numbers give equal texts."""
        parameters = {name: self.parameter(name) for name in values}
        return {name: p.show(p.parse(values[name])) for name, p in parameters.items()}

    def patches(
        self,
        *,
        harts: int,
        nodes: int = 1,
        node_size: int = 0,
        timebase_hz: int = 1_000_000_000,
        clock: int = abi.CONSTANTS["UC_CLOCK_TIME"],
        multicast: int = 0,
        report: bool = False,
        near: Sequence[int] = (),
        late: Sequence[tuple[int, bytes]] = (),
        values: Mapping[str, object] = NOTHING,
    ) -> Image:
        """Returns the changes to the ELF's memory: boot block, nearest nodes, late starts and
        parameters.
        """
        boot = {"harts": harts, "nodes": nodes, "node_size": node_size, "clock": clock}
        boot |= {"timebase_hz": timebase_hz, "report": int(report), "multicast": multicast}
        start, _ = self._elf.sections[".uc.boot"]
        words = [abi.MAGIC, *(abi.pack(boot[name]) for name in abi.FIELDS["uc_boot"][1:])]
        image = [(start, b"".join(words))]
        image += [(self._record(hart, "node"), abi.pack(node)) for hart, node in enumerate(near)]
        image += late
        for name, value in values.items():
            parameter = self.parameter(name)
            image.append((parameter.address, abi.pack(parameter.parse(value))))
        return image

    def heap(self, harts: int) -> int:
        """Returns the first address that the program may allocate."""
        if self.linux:
            return max(segment.address + segment.size for segment in self.segments)
        return self.symbol("uc_stacks").address + harts * abi.CONSTANTS["UC_STACK_STRIDE"]

    def _record(self, hart: int, field: str) -> int:
        index = abi.FIELDS["uc_record"].index(field)
        start = self.symbol("uc_record").address
        return start + hart * abi.CONSTANTS["UC_BLOCK"] + index * abi.WORD_BYTES

    def patched(self, **boot: object) -> Image:
        """Returns the initial memory, for the arguments of `patches`; everything else is zero."""
        image = [(s.address, bytearray(s.data)) for s in self.segments if s.data]
        for address, patch in self.patches(**boot):  # type: ignore[arg-type]
            covering = next(((a, d) for a, d in image if a <= address < a + len(d)), None)
            if covering is None:  # the file has no bytes for this part
                image.append((address, bytearray(patch)))
            else:
                offset = address - covering[0]
                covering[1][offset : offset + len(patch)] = patch
        return [(address, bytes(data)) for address, data in image]

    def patched_elf(self, **boot: object) -> bytes:
        """Returns the ELF with the patches applied, for the arguments of `patches`."""
        data, zeroed = bytearray(self.data), []
        for address, patch in self.patches(**boot):  # type: ignore[arg-type]
            segment = next(s for s in self.segments if address in s)
            offset = address - segment.address
            if offset < len(segment.data):
                data[segment.offset + offset : segment.offset + offset + len(patch)] = patch
            elif any(patch):
                zeroed.append((address, patch))
        if not zeroed:
            return bytes(data)
        first, (last, last_patch) = min(zeroed)[0], max(zeroed)
        tail = bytearray(last + len(last_patch) - first)
        for address, patch in zeroed:
            tail[address - first : address - first + len(patch)] = patch
        return elf.split(bytes(data), first, bytes(tail))

    # ---- For messages and reports ---------------------------------------------------------------

    def symbol_at(self, address: int) -> str | None:
        """Returns `name` or `name+offset` of the function or object at an address, or None."""
        symbol = self.symbol_of(address)
        if symbol is None:
            return None
        offset = address - symbol.address
        return demangled(symbol.name) + (f"+{offset:#x}" if offset else "")

    def functions(self, name: str) -> list[int]:
        """Returns the addresses of functions with this name in the source or for the linker."""
        code = [
            s for s in self.symbols if any(s.address in p and p.rights & 4 for p in self.segments)
        ]
        functions_named = [(s.address, {s.name, demangled(s.name)}) for s in code]
        addresses = sorted({address for address, names in functions_named if name in names})
        if not addresses:
            hint = suggestion(name, sorted({n for _, names in functions_named for n in names}), 3)
            raise UserError(
                f"{self.path}: no function is called '{name}'.{hint} A compiler that has"
                " inlined it everywhere has left none: mark it noinline, or name one that calls it"
            )
        return addresses

    def function_at(self, pc: int) -> str:
        """Returns the name of the function at a pc; "" if there is none."""
        return (self.symbol_at(pc) or "").partition("+0x")[0]

    def symbol_of(self, address: int) -> Symbol | None:
        """Returns the function or object at an address; if there are several, the one that begins
        last.
        """
        starts, max_end = self._spans
        index = bisect.bisect_right(starts, address) - 1
        # If the condition fails, no earlier symbol reaches the address.
        while index >= 0 and max_end[index] > address:
            symbol = self.symbols[index]
            if address < symbol.address + max(symbol.size, 1):
                return symbol
            index -= 1
        return None

    @cached_property
    def _spans(self) -> tuple[list[int], list[int]]:
        """Start of each symbol, and the largest end of the symbols up to it."""
        starts = [symbol.address for symbol in self.symbols]
        ends = (symbol.address + max(symbol.size, 1) for symbol in self.symbols)
        return starts, list(accumulate(ends, max))

    def source_line(self, pc: int) -> str | None:
        """Returns `lock/ticket.c:26` for the instruction at pc, or None without debug
        information.
        """
        if self.linux:
            return next((frame.place for frame in self.frames.at(pc)), None)
        return lines.find(self.line_table, pc)

    @cached_property
    def frames(self) -> Frames:
        """Finder of the functions that contain an instruction, including inlined ones."""
        return Frames(self, self._go)

    @cached_property
    def _go(self) -> go_table.GoTable | None:
        return go_table.find(self.segments) if self.linux else None

    @cached_property
    def variables(self) -> list[tuple[int, str, types.Type]]:
        """Address, name and type of every variable; [] without debug information."""
        entries = (entry for unit in self._units for entry in dwarf.statics(self.data, unit))
        load_offset = self._elf.load_offset
        return [(at + load_offset, name, kind) for at, name, kind in types.variables(entries)]

    @cached_property
    def compiled(self) -> list[str]:
        """The source files that were compiled, without those in Go and Rust, which lack headers."""
        return [dwarf.source(unit) for unit in self._units]

    @cached_property
    def _units(self) -> list[Any]:
        """Units of debug information, except those in Go and Rust, whose variables get their names
        from symbols only.
        """
        try:
            return [] if self._go else dwarf.units(self.data, (dwarf.GO, dwarf.RUST))[1]
        except Exception:  # damaged debug information must not stop a run
            return []

    @cached_property
    def line_table(self) -> lines.Table:
        """First pc and place of each piece of a source line, by pc."""
        table, load_offset = lines.line_table(self.data), self._elf.load_offset
        return tuple((pc + load_offset, place) for pc, place in table) if load_offset else table
