"""Finds the field and object at an address, and names them, as in `queue->tail`, `nodes[3].next`.

    fields = Fields.of(program, read, harts)     read(address, size) -> bytes, after a run
    fields.at(address) -> VariablePart(start=0x80e48088, size=8, name="queue->tail")

An object with a symbol has the name of its variable. Allocated memory is named by a pointer to it,
in a variable or in memory to which a variable points.  A pointer to the start of a block names the
whole block, as an array; a pointer to the inside of a block names only its target.  Other addresses
have the names of `names.Names`.
"""

from __future__ import annotations

import bisect
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from uncore.program import abi
from uncore.program.names import NamedRange, Names
from uncore.program.program import Program
from uncore.program.types import Pointer, Type, VariablePart

MAX_NESTED_OBJECTS = 16  # maximum number of objects in a block that are searched before the block
SEARCHED_BYTES = 4096  # size of the part of an object in which a field is searched by its name
MAX_HEAP_ELEMENTS = 1024  # maximum number of elements of an array that are searched for pointers

Read = Callable[[int, int], bytes]


class Object(NamedTuple):
    """A variable, or memory that a pointer leads to."""

    start: int
    end: int
    name: str
    kind: Type
    pointed: bool

    def at(self, address: int) -> VariablePart:
        if not self.pointed:
            part = self.kind.path(address - self.start)
            return VariablePart(self.start + part.start, part.size, self.name + part.name)
        index, offset = divmod(address - self.start, max(self.kind.size, 1))
        part = self.kind.path(offset)
        start = self.start + index * max(self.kind.size, 1) + part.start
        return VariablePart(start, max(part.size, 1), self._element(index, part.name))

    def has(self, address: int, kind: Type) -> bool:
        """True if an element of this type begins at the address, which therefore has a name."""
        aligned = (address - self.start) % max(self.kind.size, 1) == 0
        return self.start <= address < self.end and aligned and kind == self.kind

    def pointers(self) -> Iterator[tuple[int, str, Pointer]]:
        """Yields address, name and type of every pointer in the object; in an array without a known
        end, only those of the first element.
        """
        size = max(self.kind.size, 1)
        count = (self.end - self.start) // size if self.end < 1 << 64 else 1
        for index in range(min(count, MAX_HEAP_ELEMENTS) if self.pointed else 1):
            for offset, inner, pointer in self.kind.pointers:
                name = self._element(index, inner) if self.pointed else self.name + inner
                yield self.start + index * size + offset, name, pointer

    def addresses(self, name: str) -> Iterator[int]:
        """Yields the addresses of this object and of its fields that have that name.

        In an array without a known end, only the first element is searched.
        """
        if self.name == name:
            yield self.start
        address = self.start
        while address < min(self.end, self.start + SEARCHED_BYTES):
            part = self.at(address)
            if part.name == name != self.name:
                yield address
            address = max(part.start + part.size, address + 1)

    def _element(self, index: int, inner: str) -> str:
        if index or not self.kind.size:
            return f"{self.name}[{index}]{inner}"
        if inner.startswith("."):
            return f"{self.name}->{inner[1:]}"
        return f"{self.name}{inner}" if inner else f"*{self.name}"


@dataclass(frozen=True)
class Fields:
    """The fields of objects in one run."""

    names: Names
    objects: tuple[Object, ...]  # sorted by their start

    @classmethod
    def of(
        cls, program: Program, read: Read, harts: int, allocated: Sequence[NamedRange] = ()
    ) -> Fields:
        """Finds objects by following the program's pointers in its present memory; `allocated` is
        as in Names.of.
        """
        names = Names.of(program, read, harts, allocated)
        heap = program.heap(harts)
        variables = sorted(program.variables, key=lambda v: v[1].startswith("uc_"))
        objects = [Object(a, a + kind.size, name, kind, False) for a, name, kind in variables]
        targets_of_variables = _targets(objects, read, heap)
        reached_objects = _objects(targets_of_variables, allocated)
        targets_of_targets = _targets(reached_objects, read, heap)
        new_targets = {
            a: to
            for a, to in targets_of_targets.items()
            if not any(o.has(a, to[1]) for o in reached_objects)
        }
        named_objects = _objects(new_targets | targets_of_variables, allocated)
        return cls(
            names,
            tuple(sorted({o.start: o for o in (*objects, *named_objects)}.values(), key=_start)),
        )

    def at(self, address: int) -> VariablePart:
        """Returns the innermost field at the address, or the aligned word if there is none."""
        if object_ := self.object_at(address):
            return object_.at(address)
        word = address - address % abi.WORD_BYTES
        return VariablePart(word, abi.WORD_BYTES, self.names.at(word))

    def object_at(self, address: int) -> Object | None:
        """Returns the innermost object at the address, or None."""
        first = bisect.bisect_right(self.objects, address, key=lambda o: o.start) - 1
        for index in range(first, max(first - MAX_NESTED_OBJECTS, -1), -1):
            if address < self.objects[index].end:
                return self.objects[index]
        return None

    def edges(self) -> set[int]:
        """Returns the addresses at which objects begin and end."""
        return {edge for o in self.objects for edge in (o.start, o.end)}

    def addresses(self, name: str) -> list[int]:
        """Returns addresses of objects and fields with this name; for a pointer also its target."""
        allocated = [start for start, _, label in self.names.ranges if label == name]
        return sorted(
            {*allocated, *(a for object_ in self.objects for a in object_.addresses(name))}
        )


def _start(object_: Object) -> int:
    return object_.start


def _targets(objects: Iterable[Object], read: Read, heap: int) -> dict[int, tuple[str, Type]]:
    """Returns the targets of pointers, each named by the first pointer to it."""
    targets: dict[int, tuple[str, Type]] = {}
    for object_ in objects:
        for address, name, pointer in object_.pointers():
            value = int.from_bytes(read(address, abi.WORD_BYTES), "little")
            if value >= heap and value not in targets:
                targets[value] = name, pointer.target()
    return targets


def _objects(
    pointed: dict[int, tuple[str, Type]], allocated: Sequence[NamedRange] = ()
) -> list[Object]:
    """Makes an object of each target. A block of memory ends where its allocation ends, or where
    the next block begins.
    """
    blocks = sorted(a for a in pointed if a % abi.CONSTANTS["UC_BLOCK"] == 0)
    ends = dict(zip(blocks, [*blocks[1:], 1 << 64], strict=True)) if blocks else {}
    ends |= {start: end for start, end, _ in allocated if start in pointed}
    return [
        Object(start, ends.get(start, start + max(kind.size, 1)), name, kind, True)
        for start, (name, kind) in sorted(pointed.items())
    ]
