"""Finds names for addresses, so that a report can say `lock` instead of 0x80e48080.

    names = Names.of(program, read, harts)      read(address, size) -> bytes, after a run
    names.at(address)                           "counter", "nodes+0x180", "stack of hart 3"

The program's objects have symbols.  Allocated memory has none, but named variables point to it:
every variable of pointer size whose value lies beyond the image names the memory that starts there.
"""

from __future__ import annotations

import bisect
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from uncore.program import abi
from uncore.program.program import Program

NamedRange = tuple[int, int, str]  # first address, end, name
# Addresses of Linux programs: the first thread's stack, and the kernel's own memory
# (sim/native/os).
_KERNEL_START = 1 << 38
PAGE_BYTES = 4096
LINUX_RANGES: tuple[NamedRange, ...] = (
    (_KERNEL_START - (1 << 24), _KERNEL_START, "stack of the first thread"),
    (_KERNEL_START, _KERNEL_START + (1 << 32), "kernel: queues of harts"),
    (_KERNEL_START + (1 << 32), _KERNEL_START + (2 << 32), "kernel: buckets of futexes"),
    (_KERNEL_START + (2 << 32), _KERNEL_START + (3 << 32), "kernel: lock of the address space"),
)


@dataclass(frozen=True)
class Names:
    """The names of addresses in one run."""

    program: Program
    ranges: tuple[NamedRange, ...]  # sorted by address, disjoint

    @classmethod
    def of(
        cls,
        program: Program,
        read: Callable[[int, int], bytes],
        harts: int,
        heap: Sequence[NamedRange] = (),
    ) -> Names:
        """Finds names by following the program's pointers in its present memory.

        `heap` holds a Linux program's allocations by address, if they were watched.
        """
        if program.linux:
            return cls(program, (*heap, *LINUX_RANGES))
        stacks, stride = program.symbol("uc_stacks").address, abi.CONSTANTS["UC_STACK_STRIDE"]
        first = stacks + harts * stride
        ranges = [(stacks + h * stride, stacks + (h + 1) * stride, h) for h in range(harts)]
        named_ranges = [(start, end, f"stack of hart {hart}") for start, end, hart in ranges]
        pointers = sorted(_pointers(program, read, first))
        # each range ends where the next begins
        ends = ([start for start, _ in pointers] + [1 << 64])[1:]
        named_ranges += [
            (start, end, name) for (start, name), end in zip(pointers, ends, strict=True)
        ]
        return cls(program, tuple(named_ranges))

    def at(self, address: int) -> str:
        """Returns the most specific name for an address, or the address itself as text."""
        index = bisect.bisect_right(self.ranges, address, key=lambda span: span[0]) - 1
        if index < 0 or address >= self.ranges[index][1]:
            return self.program.symbol_at(address) or self._name_without_symbol(address)
        start, _, name = self.ranges[index]
        if name.startswith("stack of"):
            return name
        return name + (f"+{address - start:#x}" if address > start else "")

    def edges(self) -> set[int]:
        """Returns the addresses at which another name may begin, except the starts of pages."""
        spans = [(start, end) for start, end, _ in self.ranges]
        spans += [(s.address, s.address + max(s.size, 1)) for s in self.program.symbols]
        spans += [(s.address, s.address + s.size) for s in self.program.segments]
        return {edge for span in spans for edge in span}

    def _name_without_symbol(self, address: int) -> str:
        """Returns the name of an address without a symbol: its segment or page in a Linux program,
        else the address itself.
        """
        if not self.program.linux:
            return f"{address:#x}"
        if segment := next((s for s in self.program.segments if address in s), None):
            name, start = ("data" if segment.rights & 2 else "constants"), segment.address
        else:
            start = address // PAGE_BYTES * PAGE_BYTES
            name = f"page {start:#x}"
        return name + (f"+{address - start:#x}" if address > start else "")


def _pointers(
    program: Program, read: Callable[[int, int], bytes], heap: int
) -> list[tuple[int, str]]:
    pointers: dict[int, str] = {}
    for symbol in program.symbols:
        if symbol.size == abi.WORD_BYTES and not symbol.name.startswith("uc_"):
            value = int.from_bytes(read(symbol.address, abi.WORD_BYTES), "little")
            if value >= heap and value % abi.CONSTANTS["UC_BLOCK"] == 0:
                pointers.setdefault(value, symbol.name)
    for table in program.tables:
        cells = abi.unpack("uc_table", read(table.address, abi.size("uc_table")))["cells"]
        if cells:
            pointers.setdefault(cells, f"table {table.name}")
    return list(pointers.items())
