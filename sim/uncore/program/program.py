"""A guest program as a value: what its ELF says, and the memory it starts with.

    patched(harts=64, values={"hold": "50ns"})  -> [(address, bytes), ...]   initial memory
    patched_elf(...)                            the same as an ELF, for engines that load a file
    canonical({"hold": "0.05us"})               -> {"hold": "50ns"}
    symbol_at(pc), source_line(pc)              names for people

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

from uncore.errors import UserError, nearest
from uncore.program import abi, dwarf, elf, go_table, types
from uncore.program import line_table as lines
from uncore.program.elf import Segment, Symbol
from uncore.program.frames import Frames, demangled
from uncore.program.parameter import TYPES, Parameter

T = TypeVar("T")
Image = list[tuple[int, bytes]]
NOTHING: Mapping[str, object] = {}
_HINT = 0x3013  # sltiu x0, x0, 0


@dataclass(frozen=True)
class ProgramTable:
    """One UC_TABLE; the numbers exist after a run (readback.tables)."""

    name: str
    unit: str
    help: str
    address: int  # of its descriptor


@dataclass(frozen=True)
class Program:
    """A guest ELF."""

    name: str
    path: Path
    data: bytes = field(repr=False)

    def __post_init__(self) -> None:
        _ = self._elf, self.params, self.tables, self.kinds  # all complaints now

    @cached_property
    def sha256(self) -> str:
        """The hash of the ELF's bytes."""
        return hashlib.sha256(self.data).hexdigest()

    @cached_property
    def _elf(self) -> elf.Elf:
        return elf.read(self.data, str(self.path))

    @property
    def linux(self) -> bool:
        """True if it runs in user mode, on an operating system; else it is alone on the machine."""
        return self._elf.linux

    @cached_property
    def marked(self) -> bool:
        """True if the code of a Linux program marks where the measured part begins
        (uncore_hints.h).
        """
        hint = (_HINT | abi.CONSTANTS["UC_MARK_ROI_ON"] << 20).to_bytes(4, "little")
        return any(hint in segment.data for segment in self.segments if segment.rights & 4)

    @property
    def headers(self) -> tuple[int, int]:
        """Load address of the table of segments, and its number of entries."""
        return self._elf.headers

    @property
    def entry(self) -> int:
        """First pc of every hart; of a program of Linux, of its first thread."""
        return self._elf.entry

    @property
    def segments(self) -> tuple[Segment, ...]:
        """The loaded parts."""
        return self._elf.segments

    @property
    def symbols(self) -> tuple[Symbol, ...]:
        """Functions and objects by address; of a stripped program of Go its functions."""
        go = None if self._elf.symbols else self._go
        return go.functions if go else self._elf.symbols

    def symbol(self, name: str) -> Symbol:
        """A symbol by its name; KeyError if there is none."""
        return self._by_name[name]

    @cached_property
    def _by_name(self) -> dict[str, Symbol]:
        return {symbol.name: symbol for symbol in self.symbols}

    @cached_property
    def summary(self) -> str:
        """One sentence (UC_WORKLOAD), or nothing."""
        start, _ = self._elf.sections.get(".uc.summary", (0, 0))
        try:
            return self._elf.text_at(start)
        except ValueError:
            return ""

    @cached_property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of its operations, by number (UC_KINDS)."""
        start, size = self._elf.sections.get(".uc.kinds", (0, 0))
        try:
            return tuple(self._elf.text_at(start).split("|")) if size else ("operation",)
        except ValueError as error:
            raise self._damaged(".uc.kinds", error) from error

    @cached_property
    def params(self) -> tuple[Parameter, ...]:
        """In the order of the source."""
        return tuple(self._described(".uc.params", "uc_param", self._parameter))

    @cached_property
    def tables(self) -> tuple[ProgramTable, ...]:
        """In the order of the source."""
        return tuple(self._described(".uc.tables", "uc_table", self._table))

    def _described(
        self, section: str, structure: str, make: Callable[[int, Mapping[str, int]], T]
    ) -> list[T]:
        try:
            return [make(at, words) for at, words in self._elf.structures(section, structure)]
        except ValueError as error:
            raise self._damaged(section, error) from error

    def _damaged(self, section: str, error: ValueError) -> UserError:
        return UserError(
            f"{self.path}: its section {section} is damaged ({error}); compile its C file again"
        )

    def _texts(self, words: Mapping[str, int]) -> dict[str, str]:
        return {key: self._elf.text_at(words[key]) for key in ("name", "unit", "help")}

    def _parameter(self, _: int, words: Mapping[str, int]) -> Parameter:
        kind = self._elf.text_at(words["type"])
        if kind not in TYPES:
            raise ValueError(f"type '{kind}' is not one of {', '.join(sorted(TYPES))}")
        raw = self._elf.bytes_at(words["value"], abi.WORD)
        default = int.from_bytes(raw, "little", signed=kind == "i64")
        return Parameter(**self._texts(words), type=kind, default=default, address=words["value"])

    def _table(self, address: int, words: Mapping[str, int]) -> ProgramTable:
        return ProgramTable(**self._texts(words), address=address)

    # ---- Before a run ---------------------------------------------------------------------------

    def parameter(self, name: str) -> Parameter:
        """A parameter by its name, or a UserError that lists what exists."""
        parameters = {param.name: param for param in self.params}
        if name in parameters:
            return parameters[name]
        shown = ", ".join(f"{p.name} ({p.help}; {p.show(p.default)})" for p in self.params)
        has = f"{self.name} has: {shown}" if shown else f"{self.name} has no parameters"
        raise UserError(f"no parameter is called '{name}'.{nearest(name, parameters)} {has}")

    def canonical(self, values: Mapping[str, object]) -> dict[str, str]:
        """The values as this program would write them; the same text for the same number."""
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
        """Changes to the ELF's memory: the boot block, each hart's nearest node, `late.py`'s, and
        the parameters.
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
        """First address that the program may allocate."""
        if self.linux:
            return max(segment.address + segment.size for segment in self.segments)
        return self.symbol("uc_stacks").address + harts * abi.CONSTANTS["UC_STACK_STRIDE"]

    def _record(self, hart: int, field: str) -> int:
        index = abi.FIELDS["uc_record"].index(field)
        start = self.symbol("uc_record").address
        return start + hart * abi.CONSTANTS["UC_BLOCK"] + index * abi.WORD

    def patched(self, **boot: object) -> Image:
        """Initial memory, for the arguments of `patches`; everything else is zero."""
        image = [(s.address, bytearray(s.data)) for s in self.segments if s.data]
        for address, new in self.patches(**boot):  # type: ignore[arg-type]
            inside = next(((a, d) for a, d in image if a <= address < a + len(d)), None)
            if inside is None:  # in the zeroed part
                image.append((address, bytearray(new)))
            else:
                at = address - inside[0]
                inside[1][at : at + len(new)] = new
        return [(address, bytes(data)) for address, data in image]

    def patched_elf(self, **boot: object) -> bytes:
        """The ELF with the patches in it, for the arguments of `patches`."""
        data, zeroed = bytearray(self.data), []
        for address, new in self.patches(**boot):  # type: ignore[arg-type]
            segment = next(s for s in self.segments if address in s)
            at = address - segment.address
            if at < len(segment.data):
                data[segment.offset + at : segment.offset + at + len(new)] = new
            elif any(new):
                zeroed.append((address, new))
        if not zeroed:
            return bytes(data)
        first, (last, end) = min(zeroed)[0], max(zeroed)
        tail = bytearray(last + len(end) - first)
        for address, new in zeroed:
            tail[address - first : address - first + len(new)] = new
        return elf.split(bytes(data), first, bytes(tail))

    # ---- For people -----------------------------------------------------------------------------

    def symbol_at(self, address: int) -> str | None:
        """`name` or `name+offset` of the function or object at an address."""
        symbol = self.symbol_of(address)
        if symbol is None:
            return None
        offset = address - symbol.address
        return demangled(symbol.name) + (f"+{offset:#x}" if offset else "")

    def functions(self, name: str) -> list[int]:
        """Addresses of the functions with this name, which is the source's or the linker's."""
        code = [
            s for s in self.symbols if any(s.address in p and p.rights & 4 for p in self.segments)
        ]
        known = [(s.address, {s.name, demangled(s.name)}) for s in code]
        found = sorted({address for address, names in known if name in names})
        if not found:
            near = nearest(name, sorted({n for _, names in known for n in names}), 3)
            raise UserError(
                f"{self.path}: no function is called '{name}'.{near} A compiler that has inlined it"
                " everywhere has left none: mark it noinline, or name one that calls it"
            )
        return found

    def function_at(self, pc: int) -> str:
        """The same without the offset; empty where there is none."""
        return (self.symbol_at(pc) or "").partition("+0x")[0]

    def symbol_of(self, address: int) -> Symbol | None:
        """The function or object at an address: of several the one that begins last."""
        starts, reach = self._spans
        at = bisect.bisect_right(starts, address) - 1
        while at >= 0 and reach[at] > address:  # else none of those before comes as far
            symbol = self.symbols[at]
            if address < symbol.address + max(symbol.size, 1):
                return symbol
            at -= 1
        return None

    @cached_property
    def _spans(self) -> tuple[list[int], list[int]]:
        """First address of each symbol, and the largest end of the symbols up to it."""
        starts = [symbol.address for symbol in self.symbols]
        ends = (symbol.address + max(symbol.size, 1) for symbol in self.symbols)
        return starts, list(accumulate(ends, max))

    def source_line(self, pc: int) -> str | None:
        """`lock/ticket.c:26` of the instruction at pc, if the debug information knows it."""
        if self.linux:
            return next((frame.place for frame in self.frames.at(pc)), None)
        return lines.find(self.line_table, pc)

    @cached_property
    def frames(self) -> Frames:
        """The functions, inlined ones too, that an instruction is in."""
        return Frames(self, self._go)

    @cached_property
    def _go(self) -> go_table.GoTable | None:
        return go_table.find(self.segments) if self.linux else None

    @cached_property
    def variables(self) -> list[tuple[int, str, types.Type]]:
        """Address, name and type of every variable, if the debug information knows them."""
        entries = (entry for unit in self._units for entry in dwarf.statics(self.data, unit))
        moved = self._elf.moved
        return [(at + moved, name, kind) for at, name, kind in types.variables(entries)]

    @cached_property
    def compiled(self) -> list[str]:
        """The source files that were compiled, but Go's and Rust's, which have no headers."""
        return [dwarf.source(unit) for unit in self._units]

    @cached_property
    def _units(self) -> list[Any]:
        """Units with debug information. Those of Go and Rust are left out, because symbols alone
        name their variables.
        """
        try:
            return [] if self._go else dwarf.units(self.data, (dwarf.GO, dwarf.RUST))[1]
        except Exception:  # damaged debug information must not stop a run
            return []

    @cached_property
    def line_table(self) -> lines.Table:
        """First pc and place of each piece of a source line, by pc."""
        table, moved = lines.line_table(self.data), self._elf.moved
        return tuple((pc + moved, place) for pc, place in table) if moved else table
