"""M. Memory: the image of memory's own bytes, the nodes, and their memory-side caches.

The image need not have the newest bytes: its copy of a line that a cache owns is stale until the
root sends the writeback.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from uncore.engine.reference.message import Message

if TYPE_CHECKING:
    from uncore.engine.reference.system import System
    from uncore.topology.machine import Memory


class Image(defaultdict[int, bytes]):
    """The bytes of memory by line number; zero until written."""

    def __init__(self, segments: list[tuple[int, bytes]], size: int) -> None:
        """`size`: bytes of a line."""
        super().__init__(lambda: bytes(size))
        for start, content in segments:
            for address in range(start - start % size, start + len(content), size):
                line = bytearray(self[address // size])
                first = max(address, start)
                piece = content[first - start : address + size - start]
                line[first - address : first - address + len(piece)] = piece
                self[address // size] = bytes(line)


class MemoryChannel:
    """A memory channel, which transfers a line at a time."""

    def __init__(self, busy: int) -> None:
        self.busy, self.free_at = busy, 0

    def take(self, when: int) -> int:
        """M1.2, M1.3, M2.1: occupies the channel for `busy`, from `when` or from when it is free.
        Returns the start.
        """
        start = max(when, self.free_at)
        self.free_at = start + self.busy
        return start


class MemoryNode:
    """One memory node: a channel to its memory, and perhaps a memory-side cache."""

    def __init__(self, system: System, agent: int, spec: Memory) -> None:
        self.system, self.agent, self.spec = system, agent, spec
        self.channel, self.cache = (
            MemoryChannel(spec.busy),
            MemorySideCache(spec) if spec.cache_sets else None,
        )

    def stop(self, line: int) -> int:
        return self.spec.stop

    def fetched(self, when: int) -> int:
        """M1.2: returns when the data leave, which is `latency` after the start of the transfer."""
        return self.channel.take(when) + self.spec.latency

    def receive(self, message: Message) -> None:
        """M1.3: handles a read or a writeback. A writeback only occupies the channel, because the
        root wrote its bytes to the image when it sent it.
        """
        now, read = self.system.clock.now, message.kind == "GetS"
        if self.cache:
            leave = self.through(self.cache, message.line, read, now)
        else:
            leave = self.fetched(now) if read else self.channel.take(now)
        if read:
            self.send(message, leave)

    def through(self, cache: MemorySideCache, line: int, read: bool, now: int) -> int:
        """M2.2, M2.3: returns when the line is available, from the cache or, after a miss, from the
        memory.
        """
        lookup_end = cache.channel.take(now) + self.spec.cache_hit
        hit, evicted = cache.use(line, written=not read)
        leave = lookup_end if hit or not read else self.fetched(lookup_end)
        if evicted:
            self.channel.take(lookup_end)
        return leave

    def send(self, message: Message, leave: int) -> None:
        data = Message("Data", message.line, self.agent, message.sender, message.number)
        data.right, data.resolver = "I", message.sender
        data.data, data.origin = self.system.image[message.line], self.agent
        self.system.send(data, leave)


class MemorySideCache:
    """M2. The memory-side cache of a node. It has tags only; the bytes are in the image."""

    def __init__(self, spec: Memory) -> None:
        self.sets, self.ways, self.channel = (
            spec.cache_sets,
            spec.cache_ways,
            MemoryChannel(spec.cache_busy),
        )
        self.hits, self.misses = 0, 0
        # Set -> line -> True if dirty; the least recently used line first.
        self.content: dict[int, dict[int, bool]] = defaultdict(dict)

    def use(self, line: int, written: bool) -> tuple[bool, bool]:
        """M2.4: accesses a line. Returns True if it hit, and True if a dirty line was evicted."""
        lines_of_set = self.content[line % self.sets]
        hit = line in lines_of_set
        self.hits += hit
        self.misses += not hit
        lines_of_set[line] = lines_of_set.pop(line, False) or written
        return hit, len(lines_of_set) > self.ways and lines_of_set.pop(next(iter(lines_of_set)))
