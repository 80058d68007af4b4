"""A resolver: one point of ownership for the lines of its children (rules R1 to R8).

It admits messages to its slices, hands each to the process of its line (transaction.py), and looks
after what it has room for: entries and data, in sets of ways.

Interface: `receive` a message; for its lines `send`, `send_up`, memory and capacity.
Invariant: only quiet lines are evicted; where none is quiet a set overflows for a while.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from uncore.engine.reference.message import NOBODY, PROBES, REQUESTS, Message
from uncore.engine.reference.transaction import Line

if TYPE_CHECKING:
    from uncore.engine.reference.entry import Data, Entry
    from uncore.engine.reference.system import System
    from uncore.topology.machine import Resolver as Spec


class Sets:
    """Ways that lines take."""

    def __init__(self, sets: int, ways: int) -> None:
        self.sets, self.ways = max(1, sets), ways
        self.content: dict[int, list[Entry]] = {}

    def of(self, entry: Entry) -> list[Entry]:
        return self.content.setdefault(entry.line % self.sets, [])

    def add(self, entry: Entry, evict: Callable[[Entry], None]) -> None:
        """Gives it a way, if it has none; then the least recently used quiet ones must go."""
        here = self.of(entry)
        if entry in here:
            return
        here.append(entry)
        while len(here) > self.ways:
            quiet = (other for other in here if other is not entry and other.quiet)
            oldest = min(quiet, key=lambda other: other.used, default=None)
            if oldest is None:
                return
            here.remove(oldest)
            evict(oldest)

    def remove(self, entry: Entry) -> None:
        here = self.of(entry)
        if entry in here:
            here.remove(entry)


class Resolver:
    """One resolver with its slices."""

    def __init__(self, system: System, agent: int, spec: Spec) -> None:
        self.system, self.clock, self.agent, self.spec = system, system.clock, agent, spec
        self.root = not spec.parents
        self.snoops = spec.knows == "snoop"
        self.keeps_data = spec.data != "none"
        self.inclusive = "inclusive" in (spec.data, spec.knows)
        self.free = [0] * len(spec.slices)
        self.busy = [0] * len(spec.slices)
        self.lines: dict[int, Line] = {}
        self.entries = Sets(spec.entries // max(1, spec.ways), spec.ways)
        self.copies = Sets(spec.data_sets, spec.data_ways)
        self.requests = self.uses = 0

    def stop(self, line: int) -> int:
        return self.spec.slices[self.slice(line)]

    def slice(self, line: int) -> int:
        return self.system.homes.slice(line, len(self.spec.slices))

    # ---- messages --------------------------------------------------------------------------------

    def receive(self, message: Message) -> None:
        """R1: requests and probes wait for their slice, and occupy it."""
        service = self.spec.service
        if message.kind == "Amo":  # it reads and writes this level's data (C8)
            service += self.spec.data_hit
        if message.kind not in PROBES + REQUESTS or not service:
            return self.act(message)
        slice = self.slice(message.line)
        self.free[slice] = max(self.clock.now, self.free[slice]) + service
        self.busy[slice] += service
        return self.clock.call(self.free[slice], message.rank, lambda: self.act(message))

    def act(self, message: Message) -> None:
        """Its line learns of the message, and does what it can; recalls come first (R8)."""
        if self.must_look_up(message):
            message.looked_up = True
            later = self.clock.now + self.spec.lookup
            return self.clock.call(later, message.rank, lambda: self.act(message))
        line = self.lines.get(message.line) or Line(self, message.line)
        if message.kind in REQUESTS:
            self.take_entry(line)
            line.queue.append(message)
        elif message.kind in PROBES:
            line.probe, line.served = message, 0
        elif message.kind == "Answer":
            line.answered(message)
        elif message.kind == "Unblock":
            line.open -= 1
        else:
            line.from_above = message
        if message.line not in self.lines:
            self.lines[message.line] = line
            self.clock.process(line.attend())
        line.news.ring()

    def must_look_up(self, message: Message) -> bool:
        """R9: who owns a line away from this node stands in memory, unless it is being asked."""
        line = self.lines.get(message.line)
        if not self.spec.lookup or not line or message.looked_up:
            return False
        if message.kind not in REQUESTS or message.kind == "Put":
            return False
        at_rest = not line.transaction and not line.poll and not line.queue
        return at_rest and line.owner != NOBODY and line.owner not in self.spec.near

    def send(self, message: Message, delay: int = 0) -> None:
        self.system.send(message, self.clock.now + delay)

    def send_up(self, kind: str, line: int, data: Data | None = None) -> int:
        """A request to the level above; its number."""
        self.requests += 1
        above = self.system.above(self.agent, line)
        request = Message(kind, line, self.agent, above, self.requests)
        if data:
            request.data, request.origin = data.bytes, data.origin
        self.send(request)
        return self.requests

    # ---- memory (a root's) -----------------------------------------------------------------------

    def read_memory(self, line: int) -> None:
        self.send(Message("GetS", line, self.agent, self._memory(line)))

    def write_memory(self, line: int, data: Data) -> None:
        """M1: the root is the point of order; the transfer only takes its time."""
        self.system.image[line] = data.bytes
        put = Message("Put", line, self.agent, self._memory(line))
        put.data = data.bytes
        self.send(put)

    def _memory(self, line: int) -> int:
        node = self.spec.memory if self.spec.memory >= 0 else self.system.homes.node(line)
        return self.system.memory_agent(node)

    # ---- capacity --------------------------------------------------------------------------------

    def use(self, line: Entry) -> None:
        self.uses += 1
        line.used = self.uses

    def take_entry(self, line: Entry) -> None:
        """R8: a request makes its line the last used; a new one may cost another its entry."""
        if not self.spec.entries:
            return
        self.use(line)
        self.entries.add(line, self._recall)

    def keep(self, line: Entry) -> None:
        """R7: a copy has come."""
        self.use(line)
        self.copies.add(line, self._evict_copy)

    def _evict_copy(self, line: Entry) -> None:
        if line.dirty or self.inclusive:
            self._recall(line)
        else:
            line.drop()

    def _recall(self, line: Entry) -> None:
        line.recalled = True
        line.news.ring()

    def drop(self, line: Entry) -> None:
        self.copies.remove(line)

    def forget(self, line: Entry) -> bool:
        """Nothing is left to know of it."""
        self.entries.remove(line)
        del self.lines[line.line]
        return True
