"""M. Memory: the image of what memory itself holds, and the nodes that read and write it.

The image is not an always-right memory: a line owned by a cache is stale in it until the root sends
the writeback.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from uncore.engine.reference.message import Message

if TYPE_CHECKING:
    from uncore.engine.reference.system import System
    from uncore.topology.machine import Memory


class Image(defaultdict[int, bytes]):
    """Line number -> bytes; zero until written."""

    def __init__(self, segments: list[tuple[int, bytes]], size: int) -> None:
        """`size`: of a line."""
        super().__init__(lambda: bytes(size))
        for start, content in segments:
            for at in range(start - start % size, start + len(content), size):
                line = bytearray(self[at // size])
                first = max(at, start)
                piece = content[first - start : at + size - start]
                line[first - at : first - at + len(piece)] = piece
                self[at // size] = bytes(line)


class Node:
    """One memory node: a channel, and what lies behind it."""

    def __init__(self, system: System, agent: int, spec: Memory) -> None:
        self.system, self.agent, self.spec = system, agent, spec
        self.free = 0

    def stop(self, line: int) -> int:
        return self.spec.stop

    def read(self, message: Message, channel_got: int) -> None:
        """M1.2: the data leave `latency` after the channel was got."""
        data = Message("Data", message.line, self.agent, message.sender, message.number)
        data.right, data.resolver = "M", message.sender
        data.data, data.origin = self.system.image[message.line], self.agent
        self.system.send(data, channel_got + self.spec.latency)

    def take_channel(self) -> int:
        """M1.2, M1.3: when it is free; it is kept for `busy`."""
        start = max(self.system.clock.now, self.free)
        self.free = start + self.spec.busy
        return start

    def receive(self, message: Message) -> None:
        """M1.3: a writeback takes its turn; its bytes are in the image since the root sent it."""
        channel_got = self.take_channel()
        if message.kind == "GetS":
            self.read(message, channel_got)
