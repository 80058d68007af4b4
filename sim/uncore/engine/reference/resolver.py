"""R. A resolver: it orders the requests of its children.

Messages wait for its slices, and are then passed to the process of their line (transaction.py).

Interface: `receive` handles a message; the processes of lines call `send`, `send_up` and the
functions for memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil
from typing import TYPE_CHECKING

from uncore.engine.reference import children
from uncore.engine.reference.capacity import Capacity
from uncore.engine.reference.entry import Entry
from uncore.engine.reference.message import NOBODY, PROBES, REQUESTS, Message
from uncore.engine.reference.transaction import attend

if TYPE_CHECKING:
    from uncore.engine.reference.entry import Data
    from uncore.engine.reference.system import System
    from uncore.topology.machine import Resolver as Spec


class Resolver:
    """One resolver with its slices."""

    def __init__(self, system: System, agent: int, spec: Spec) -> None:
        self.system, self.clock, self.agent, self.spec = system, system.clock, agent, spec
        self.root = not spec.parents
        self.snoops = spec.knows == "snoop"
        self.keeps_data = spec.data != "none"
        self.inclusive = "inclusive" in (spec.data, spec.knows)
        self.free_at = [0] * len(spec.slices)
        self.busy = [0] * len(spec.slices)
        self.lines: dict[int, Entry] = {}
        self.capacity = Capacity(spec)
        self.requests = 0

    def stop(self, line: int) -> int:
        return self.spec.slices[self.slice(line)]

    def slice(self, line: int) -> int:
        return self.system.agents.slice(line, len(self.spec.slices))

    # ---- messages --------------------------------------------------------------------------------

    def service(self, message: Message) -> int:
        """C8.2: returns the time for which a message occupies its slice; an Amo also reads and
        writes the level's data.
        """
        return self.spec.service + (self.spec.data_hit if message.kind == "Amo" else 0)

    def receive(self, message: Message) -> None:
        """R1: handles a message. Requests and probes wait for their slice and occupy it; all other
        messages are handled at once.
        """
        if message.kind not in PROBES + REQUESTS or not self.service(message):
            return self.act(message)
        slice, service = self.slice(message.line), self.service(message)
        self.free_at[slice] = max(self.clock.now, self.free_at[slice]) + service
        self.busy[slice] += service
        return self.clock.call(self.free_at[slice], message.rank, lambda: self.act(message))

    def act(self, message: Message) -> None:
        """R1: passes a message to its line's entry, and wakes the process of the line."""
        if remaining_delay := self.delay(message):
            message.delayed = True
            return self.clock.call(
                self.clock.now + remaining_delay, message.rank, lambda: self.act(message)
            )
        entry = self.lines.get(message.line) or Entry(self, message.line)
        if message.kind in REQUESTS:
            self.capacity.take_entry(entry)
            entry.queue.append(message)
        elif message.kind in PROBES:
            entry.probe, entry.served = message, 0
        elif message.kind == "Answer":
            children.answered(entry, message)
        elif message.kind == "Unblock":
            entry.open -= 1
        else:
            entry.from_above = message
        if message.line not in self.lines:
            self.lines[message.line] = entry
            self.clock.process(attend(entry))
        return entry.news.ring()

    def delay(self, message: Message) -> int:
        """R5.3, R9.2: returns the delay of a message after its service. A message is delayed at
        most once.
        """
        if message.delayed:
            return 0
        if message.kind == "Unblock":
            return self.spec.turn if self.lines[message.line].queue else 0
        return self.spec.lookup if self.looks_up(message) else 0

    def owner_is_in_memory(self, entry: Entry) -> bool:
        """R9.1: returns True if the owner is recorded only in memory, because it is not a child of
        the root's own node.
        """
        return entry.owner != NOBODY and entry.owner not in self.spec.near

    def looks_up(self, message: Message) -> bool:
        """R9.2: returns True if a request must wait until the root has read the line's owner from
        memory.
        """
        needs_owner = message.kind in REQUESTS and message.kind != "Put"
        if not self.spec.lookup or not needs_owner:
            return False
        entry = self.lines.get(message.line)
        return entry is not None and self.owner_is_in_memory(entry) and not self.is_at_hand(entry)

    def is_at_hand(self, entry: Entry) -> bool:
        """R9.3: returns True if the owner has been read already, because a transaction is in
        progress or a request waits.
        """
        return bool(entry.transaction or entry.poll or entry.queue)

    def regions(self) -> Iterator[tuple[int, ...]]:
        """R11.2: returns the regions of children. When the pointers overflow, each bit of the
        coarse vector stands for one region.
        """
        children = self.spec.children
        bits = self.spec.pointers * max(1, (len(children) - 1).bit_length())
        size = ceil(len(children) / bits)
        return (children[first : first + size] for first in range(0, len(children), size))

    def forget(self, entry: Entry) -> None:
        """Removes the entry of a line."""
        self.capacity.entries.remove(entry)
        del self.lines[entry.line]

    def send(self, message: Message, delay: int = 0) -> None:
        self.system.send(message, self.clock.now + delay)

    def send_up(self, kind: str, line: int, data: Data | None = None) -> int:
        """Sends a request to the level above. Returns its number."""
        self.requests += 1
        above = self.system.agents.above(self.agent, line)
        request = Message(kind, line, self.agent, above, self.requests)
        if data:
            request.data, request.origin = data.bytes, data.origin
        self.send(request)
        return self.requests

    # ---- memory (a root's) -----------------------------------------------------------------------

    def read_memory(self, line: int) -> None:
        self.send(Message("GetS", line, self.agent, self._memory(line)))

    def write_memory(self, line: int, data: Data) -> None:
        """M1.1: writes bytes to memory. The image changes when the root sends them; the message
        only accounts for the time of the transfer.
        """
        self.system.image[line] = data.bytes
        put = Message("Put", line, self.agent, self._memory(line))
        put.data = data.bytes
        self.send(put)

    def _memory(self, line: int) -> int:
        agents = self.system.agents
        node = self.spec.memory if self.spec.memory >= 0 else agents.home(line)
        return agents.memories[node].agent
