"""Encodes a device tree as the bytes that a kernel reads (Devicetree Specification 0.4, chapter 5).

A node is a dict: a dict in it is a child node. A string or a list of strings, a number or a list of
numbers (32 bits each), and bytes are properties.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence

Value = str | int | bytes | Sequence[str] | Sequence[int]
Tree = Mapping[str, "Value | Tree"]

_MAGIC, _VERSION, _COMPATIBLE = 0xD00DFEED, 17, 16
_BEGIN, _END, _PROPERTY, _LAST = 1, 2, 3, 9
_HEADER_BYTES = 40


def flat(tree: Tree, hart: int) -> bytes:
    """Encodes the tree; `hart` is the number of the hart that boots."""
    names: dict[str, int] = {}
    body = _node("", tree, names) + _word(_LAST)
    strings = b"".join(name.encode() + b"\0" for name in names)
    reserved = bytes(16)
    struct_offset = _HEADER_BYTES + len(reserved)
    size = struct_offset + len(body) + len(strings)
    head = (
        _MAGIC,
        size,
        struct_offset,
        struct_offset + len(body),
        _HEADER_BYTES,
        _VERSION,
        _COMPATIBLE,
        hart,
        len(strings),
    )
    return struct.pack(">10I", *head, len(body)) + reserved + body + strings


def two_cells(number: int) -> list[int]:
    """Returns a 64-bit number as two 32-bit ones."""
    return [number >> 32, number & 0xFFFFFFFF]


def _node(name: str, tree: Tree, names: dict[str, int]) -> bytes:
    parts = [_word(_BEGIN), _padded(name.encode() + b"\0")]
    for key, value in tree.items():
        if not isinstance(value, Mapping):
            parts.append(_property(key, _bytes(value), names))
    for key, value in tree.items():
        if isinstance(value, Mapping):
            parts.append(_node(key, value, names))
    return b"".join([*parts, _word(_END)])


def _property(name: str, value: bytes, names: dict[str, int]) -> bytes:
    name_offset = names.setdefault(name, sum(len(earlier_name) + 1 for earlier_name in names))
    return struct.pack(">3I", _PROPERTY, len(value), name_offset) + _padded(value)


def _bytes(value: Value) -> bytes:
    if isinstance(value, bytes):
        return value
    if isinstance(value, str | int):
        return value.encode() + b"\0" if isinstance(value, str) else _word(value)
    return b"".join(map(_bytes, value))


def _word(number: int) -> bytes:
    return struct.pack(">I", number)


def _padded(value: bytes) -> bytes:
    return value + bytes(-len(value) % 4)
