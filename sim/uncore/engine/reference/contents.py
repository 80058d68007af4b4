"""A2. The bytes of a line, and the search for the newest ones.

Interface: `Bytes` has the operations on a line; `read` returns the newest bytes of memory.
Invariant: memory's copy is valid only while no cache owns the line.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from uncore.engine.reference.hart import Hart
    from uncore.engine.reference.message import Message
    from uncore.engine.reference.system import System


@dataclass(eq=False, kw_only=True)
class Bytes:
    """The bytes of a line, on which operations work."""

    data: bytearray = field(default_factory=bytearray)  # empty until the data have arrived

    def read(self, address: int, size: int) -> int:
        """Returns an unsigned little-endian value."""
        return int.from_bytes(self.data[address % len(self.data) :][:size], "little")

    def write(self, address: int, size: int, value: int) -> None:
        """Writes the low `size` bytes of a value."""
        low = value % (1 << 8 * size)
        offset = address % len(self.data)
        self.data[offset : offset + size] = low.to_bytes(size, "little")


def read(system: System, address: int, size: int) -> bytes:
    """A2: returns the newest bytes at an address, from caches, messages or memory."""
    line_bytes = system.machine.line
    lines = range(address // line_bytes, (address + size - 1) // line_bytes + 1)
    line_data = b"".join(newest(system, line) for line in lines)
    data = bytearray(line_data[address % line_bytes :][:size])
    for hart in system.harts:
        _overlay(data, address, hart)
    return bytes(data)


def newest(system: System, line: int) -> bytes:
    """A2: returns the newest bytes of a line: those of an owner's cache, else of a message that
    transfers ownership, else of a cache level, else of memory.
    """
    for core in system.cores:
        copy = core.caches.lines.get(line)
        if copy and system.protocol.owns(copy.state):
            return bytes(copy.data)
    for message in system.under_way:
        if message.line == line and message.data and _owns(system, message):
            return message.data
    for resolver in system.resolvers:
        entry = resolver.lines.get(line)
        if entry and (data := entry.newest):
            return data
    return system.image[line]


def _owns(system: System, message: Message) -> bool:
    """Returns True if the message carries data newer than memory's."""
    to_memory = message.receiver >= system.agents.memories[0].agent
    dirty = message.kind == "Put" or system.protocol.is_dirty(message.right)
    return (dirty or bool(message.says & {"dirty", "pass"})) and not to_memory


def _overlay(data: bytearray, address: int, hart: Hart) -> None:
    """Overwrites bytes with those of buffered stores, which are newer than any line. The results of
    buffered atomics are not known yet.
    """
    for store in hart.buffer:
        if store.kind == "store" and isinstance(store.value, int):
            written = store.value.to_bytes(8, "little")[: store.size]
            for offset, byte in enumerate(written, store.address - address):
                if 0 <= offset < len(data):
                    data[offset] = byte
