"""Names for addresses, so that a report says `lock` and not 0x80e48080.

    names = Names.of(program, read, harts)      read(address, size) -> bytes, after a run
    names.at(address)                           "counter", "nodes+0x180", "stack of hart 3"

The program's objects have symbols.  Allocated memory has none, but the program holds it by pointers
with names: each variable of pointer size whose value lies beyond the image names what starts there.
"""

from __future__ import annotations

import bisect
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from uncore.program import abi
from uncore.program.program import Program

NamedRange = tuple[int, int, str]  # first address, end, name
# Addresses of Linux: the first thread's stack, the kernel's own (sim/native/os).
_KERNEL = 1 << 38
PAGE = 4096
SYSTEM: tuple[NamedRange, ...] = (
    (_KERNEL - (1 << 24), _KERNEL, "stack of the first thread"),
    (_KERNEL, _KERNEL + (1 << 32), "kernel: queues of harts"),
    (_KERNEL + (1 << 32), _KERNEL + (2 << 32), "kernel: buckets of futexes"),
    (_KERNEL + (2 << 32), _KERNEL + (3 << 32), "kernel: lock of the address space"),
)


@dataclass(frozen=True)
class Names:
    """The names of addresses in one run."""

    program: Program
    places: tuple[NamedRange, ...]  # by address, disjoint

    @classmethod
    def of(
        cls,
        program: Program,
        read: Callable[[int, int], bytes],
        harts: int,
        heap: Sequence[NamedRange] = (),
    ) -> Names:
        """Follows the program's pointers as they are now; `heap` of a program of Linux, by address,
        where its allocations were watched."""
        if program.linux:
            return cls(program, (*heap, *SYSTEM))
        stacks, stride = program.symbol("uc_stacks").address, abi.CONSTANTS["UC_STACK_STRIDE"]
        first = stacks + harts * stride
        places = [(stacks + h * stride, stacks + (h + 1) * stride, h) for h in range(harts)]
        named = [(start, end, f"stack of hart {hart}") for start, end, hart in places]
        pointers = sorted(_pointers(program, read, first))
        ends = ([start for start, _ in pointers] + [1 << 64])[1:]  # each ends where the next starts
        named += [(start, end, name) for (start, name), end in zip(pointers, ends, strict=True)]
        return cls(program, tuple(named))

    def at(self, address: int) -> str:
        """The best name there is; the address itself if there is none."""
        index = bisect.bisect_right(self.places, address, key=lambda span: span[0]) - 1
        if index < 0 or address >= self.places[index][1]:
            return self.program.symbol_at(address) or self._unnamed(address)
        start, _, name = self.places[index]
        if name.startswith("stack of"):
            return name
        return name + (f"+{address - start:#x}" if address > start else "")

    def edges(self) -> set[int]:
        """Addresses at which another name may begin, besides the edges of pages."""
        spans = [(start, end) for start, end, _ in self.places]
        spans += [(s.address, s.address + max(s.size, 1)) for s in self.program.symbols]
        spans += [(s.address, s.address + s.size) for s in self.program.segments]
        return {edge for span in spans for edge in span}

    def _unnamed(self, address: int) -> str:
        """A program of Linux has constants without a name, and pages that nobody has named."""
        if not self.program.linux:
            return f"{address:#x}"
        if segment := next((s for s in self.program.segments if address in s), None):
            name, start = ("data" if segment.rights & 2 else "constants"), segment.address
        else:
            start = address // PAGE * PAGE
            name = f"page {start:#x}"
        return name + (f"+{address - start:#x}" if address > start else "")


def _pointers(
    program: Program, read: Callable[[int, int], bytes], heap: int
) -> list[tuple[int, str]]:
    pointers: dict[int, str] = {}
    for symbol in program.symbols:
        if symbol.size == abi.WORD and not symbol.name.startswith("uc_"):
            value = int.from_bytes(read(symbol.address, abi.WORD), "little")
            if value >= heap and value % abi.CONSTANTS["UC_BLOCK"] == 0:
                pointers.setdefault(value, symbol.name)
    for table in program.tables:
        cells = abi.unpack("uc_table", read(table.address, abi.size("uc_table")))["cells"]
        if cells:
            pointers.setdefault(cells, f"table {table.name}")
    return list(pointers.items())
