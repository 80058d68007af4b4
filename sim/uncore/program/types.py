"""Reads the types of a program's variables from DWARF, to name the bytes inside them.

    variables(entries) -> [(address, name, type), ...]    from pyelftools' DIEs (dwarf.statics)
    kind.path(24) -> VariablePart(start=24, size=8, name=".next")    the innermost member there
    kind.pointers -> ((offset, name, Pointer), ...)       every pointer in the type

A type is a Scalar, a Pointer, a Struct (or union) or an Array; qualifiers and names of types are
ignored.  Damaged debug information counts as missing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

ADDRESS_OP, OFFSET_OP = 3, 0x23  # DW_OP_addr, DW_OP_plus_uconst, which give a variable's address
TRANSPARENT_TAGS = ("typedef", "const_type", "volatile_type", "atomic_type", "restrict_type")
MAX_ARRAY_ELEMENTS = 4096  # maximum number of elements of an array that are searched for pointers


class VariablePart(NamedTuple):
    """A piece of a variable: a member, an element or padding."""

    start: int
    size: int
    name: str


@dataclass(frozen=True)
class Scalar:
    """A number, or a type that is not described."""

    size: int

    def path(self, offset: int) -> VariablePart:
        return (
            VariablePart(0, self.size, "")
            if offset < self.size
            else VariablePart(offset, 1, f"+{offset:#x}")
        )

    @property
    def pointers(self) -> Pointers:
        return ()


@dataclass(frozen=True)
class Pointer(Scalar):
    """A pointer.  Its target type is computed on demand, because types may refer to themselves."""

    target: Callable[[], Type] = field(compare=False)

    @property
    def pointers(self) -> Pointers:
        return ((0, "", self),)


@dataclass(frozen=True)
class Struct:
    """A structure or union: members in the order of the source; those of a union overlap."""

    size: int
    members: tuple[tuple[int, str, Type], ...]

    def path(self, offset: int) -> VariablePart:
        for start, name, kind in self.members:
            if start <= offset < start + kind.size:
                inner = kind.path(offset - start)
                return VariablePart(
                    start + inner.start, inner.size, f"{name and '.' + name}{inner.name}"
                )
        begins = max((s + k.size for s, _, k in self.members if s + k.size <= offset), default=0)
        ends = min(
            (s for s, _, _ in self.members if s > offset), default=max(self.size, offset + 1)
        )
        return VariablePart(begins, ends - begins, f"+{begins:#x}")  # padding

    @cached_property
    def pointers(self) -> Pointers:
        return tuple(
            (start + offset, f"{name and '.' + name}{inner}", pointer)
            for start, name, kind in self.members
            for offset, inner, pointer in kind.pointers
        )


@dataclass(frozen=True)
class Array:
    """An array with as many elements as fit into its size."""

    size: int
    element: Type

    def path(self, offset: int) -> VariablePart:
        index, offset_in_element = divmod(offset, max(self.element.size, 1))
        inner = self.element.path(offset_in_element)
        start = index * self.element.size + inner.start
        return VariablePart(start, inner.size, f"[{index}]{inner.name}")

    @cached_property
    def pointers(self) -> Pointers:
        step = max(self.element.size, 1)
        return tuple(
            (index * step + offset, f"[{index}]{inner}", pointer)
            for index in range(min(self.size // step, MAX_ARRAY_ELEMENTS))
            for offset, inner, pointer in self.element.pointers
        )


Type = Scalar | Struct | Array
Pointers = tuple[tuple[int, str, Pointer], ...]  # offsets and names of pointers in a type
UNKNOWN = Scalar(0)


def variables(entries: Iterable[Any]) -> list[tuple[int, str, Type]]:
    """Returns every variable with a name and a fixed address; [] if the information is damaged."""
    try:
        return list(_TypeReader().variables(entries))
    except Exception:  # damaged debug information must not stop a run
        return []


class _TypeReader:
    """Reads each type once, and keeps types by the offset of their DWARF entry."""

    def __init__(self) -> None:
        self.types_by_offset: dict[int, Type] = {}

    def variables(self, entries: Iterable[Any]) -> Iterator[tuple[int, str, Type]]:
        for die in entries:
            location = die.attributes.get("DW_AT_location")
            if location is None or "DW_AT_name" not in die.attributes:
                continue
            if location.form == "DW_FORM_exprloc" and (address := _address(bytes(location.value))):
                yield address, _name(die), self.of(die)

    def of(self, die: Any) -> Type:
        """Returns the type that `die` refers to."""
        if "DW_AT_type" not in die.attributes:
            return UNKNOWN
        target = die.get_DIE_from_attribute("DW_AT_type")
        if target.offset not in self.types_by_offset:
            self.types_by_offset[target.offset] = self._read(target)
        return self.types_by_offset[target.offset]

    def _read(self, die: Any) -> Type:
        kind = die.tag.removeprefix("DW_TAG_")
        size = getattr(die.attributes.get("DW_AT_byte_size"), "value", 0)
        if kind in TRANSPARENT_TAGS:
            return self.of(die)
        if kind == "pointer_type":
            return Pointer(size or 8, lambda: self.of(die))
        if kind in ("structure_type", "union_type"):
            return Struct(size, tuple(self._members(die)))
        if kind == "array_type":
            return self._array(die)
        return Scalar(size)

    def _members(self, die: Any) -> Iterator[tuple[int, str, Type]]:
        for member in die.iter_children():
            if member.tag == "DW_TAG_member":
                location = member.attributes.get("DW_AT_data_member_location")
                yield (location.value if location else 0), _name(member), self.of(member)

    def _array(self, die: Any) -> Type:
        kind = self.of(die)
        for bound in reversed([d for d in die.iter_children() if d.tag == "DW_TAG_subrange_type"]):
            count = bound.attributes.get("DW_AT_count")
            upper = bound.attributes.get("DW_AT_upper_bound")
            length = count.value if count else upper.value + 1 if upper else 0
            kind = Array(length * kind.size, kind)
        return kind


def _address(location: bytes) -> int:
    """Returns a variable's fixed address; 0 if it has none or was optimized away."""
    address = int.from_bytes(location[1:9], "little") if location[0] == ADDRESS_OP else 0
    offset = location[10:] if location[9:10] == bytes([OFFSET_OP]) else b""
    if len(location) > 9 and (not offset or any(byte < 0x80 for byte in offset[:-1])):
        return 0  # the variable is in pieces at different addresses
    return address + sum((byte & 0x7F) << 7 * i for i, byte in enumerate(offset)) if address else 0


def _name(die: Any) -> str:
    name = die.attributes.get("DW_AT_name")
    return name.value.decode() if name else ""
