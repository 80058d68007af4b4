"""Names for bytes: `queue->tail`, `nodes[3].next`: which field of which object is at an address.

    fields = Fields.of(program, read, harts)     read(address, size) -> bytes, after a run
    fields.at(address) -> Part(start=0x80e48088, size=8, name="queue->tail")

Objects with symbols are named by their variables, allocated memory by the pointers in variables
that lead to it, one step.  A pointer to the start of a block names all that follows, as an array;
one to the inside of a block only what it points to.  The rest has the names of `names.Names`.
"""

from __future__ import annotations

import bisect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from uncore.program import abi
from uncore.program.names import Names
from uncore.program.program import Program
from uncore.program.types import Part, Type

NESTED = 16  # pointers to the inside of one block that are passed over to find its start

Read = Callable[[int, int], bytes]


class Object(NamedTuple):
    """A variable, or what a pointer leads to."""

    start: int
    end: int
    name: str
    kind: Type
    pointed: bool

    def at(self, address: int) -> Part:
        if not self.pointed:
            part = self.kind.path(address - self.start)
            return Part(self.start + part.start, part.size, self.name + part.name)
        index, rest = divmod(address - self.start, max(self.kind.size, 1))
        part = self.kind.path(rest)
        start = self.start + index * max(self.kind.size, 1) + part.start
        return Part(start, max(part.size, 1), self._element(index, part.name))

    def _element(self, index: int, inner: str) -> str:
        if index or not self.kind.size:
            return f"{self.name}[{index}]{inner}"
        if inner.startswith("."):
            return f"{self.name}->{inner[1:]}"
        return f"{self.name}{inner}" if inner else f"*{self.name}"


@dataclass(frozen=True)
class Fields:
    """Where fields are in one run."""

    names: Names
    objects: tuple[Object, ...]  # by start

    @classmethod
    def of(cls, program: Program, read: Read, harts: int) -> Fields:
        """Follows the program's pointers as they are now."""
        names = Names.of(program, read, harts)
        heap = program.symbol("uc_stacks").address + harts * abi.CONSTANTS["UC_STACK_STRIDE"]
        variables = sorted(program.variables, key=lambda v: v[1].startswith("uc_"))
        objects = {a: Object(a, a + kind.size, name, kind, False) for a, name, kind in variables}
        pointed = dict(_pointed(variables, read, heap))
        blocks = sorted(a for a in pointed if a % abi.CONSTANTS["UC_BLOCK"] == 0)
        ends = dict(zip(blocks, [*blocks[1:], 1 << 64], strict=True))
        for start, (name, kind) in pointed.items():
            end = ends.get(start, start + max(kind.size, 1))
            objects[start] = Object(start, end, name, kind, True)
        return cls(names, tuple(sorted(objects.values(), key=lambda o: o.start)))

    def at(self, address: int) -> Part:
        """The innermost field there; a word of memory that nothing leads to."""
        first = bisect.bisect_right(self.objects, address, key=lambda o: o.start) - 1
        for index in range(first, max(first - NESTED, -1), -1):
            if address < self.objects[index].end:
                return self.objects[index].at(address)
        word = address - address % abi.WORD
        return Part(word, abi.WORD, self.names.at(word))


def _pointed(
    variables: list[tuple[int, str, Type]], read: Read, heap: int
) -> Iterator[tuple[int, tuple[str, Type]]]:
    """Where pointers lead, by the first variable that does."""
    seen: set[int] = set()
    for address, name, kind in variables:
        for offset, inner, target in kind.pointers():
            value = int.from_bytes(read(address + offset, abi.WORD), "little")
            if value >= heap and value not in seen:
                seen.add(value)
                yield value, (name + inner, target)
