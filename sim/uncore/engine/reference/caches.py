"""C1 to C5, C11. A core's private caches as one client of the protocol.

Interface: `ready` begins an access, `receive` handles a message; `find` and `lines` give the state
of lines. Invariant: an access reads or writes a line only if the cell of the client table says
`hit`.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING

import simpy

from uncore.engine.reference import client, contended
from uncore.engine.reference.cache import CachedLine, CoreCaches, is_evictable
from uncore.engine.reference.message import PROBES, Message, ProtocolError
from uncore.engine.reference.time import Bell
from uncore.protocol.states import request_of

if TYPE_CHECKING:
    from uncore.engine.reference.core import Core
    from uncore.protocol.table_shapes import Cell


class Caches:
    """The private caches of one core."""

    def __init__(self, core: Core) -> None:
        self.core, self.system, self.clock = core, core.system, core.clock
        self.agent, self.costs = core.agent, core.costs
        self.cache = CoreCaches(core.costs)
        self.lines = self.cache.lines
        self.requests = 0
        self.under_way = 0  # number of requested lines that have not arrived yet (H9, C11)

    def find(self, number: int) -> CachedLine:
        """Returns the state of a line; if the core has none, a new state I."""
        line = self.lines.get(number)
        return line or CachedLine(self.core.system.protocol, number, changed=Bell(self.clock))

    def next_number(self) -> int:
        self.requests += 1
        return self.requests

    # ---- accesses --------------------------------------------------------------------------------

    def ready(
        self, number: int, event: str, hart: int, at: int | None = None
    ) -> tuple[CachedLine, bool] | None:
        """C1: returns the line if the access hits, and True if the first level has the line.
        Returns None if the access misses, so that the line has been requested, or if the line is in
        a transient state. `at` is the time at which the access begins, if that is later than now
        (H9.2).
        """
        line = self.find(number)
        cell = line.cell(event)
        if "stall" in cell.actions:
            return None
        self.lines[number] = line
        absent = line.state == "I"
        line.step(event)
        if "hit" in cell.actions:
            return line, self.cache.touch(line)
        line.contended.requested(hart)
        self.under_way += 1
        begins = self.clock.now if at is None else at
        self.request(line, cell, begins + self.costs.l2_hit)
        if absent:
            self.prefetch(number, event, hart, begins)
        return None

    def request(self, line: CachedLine, cell: Cell, leaves: int) -> None:
        """C1: sends the request that a cell names."""
        line.request = self.next_number()
        message = Message(request_of(cell), line.line, self.agent, 0, line.request)
        self.send_up(message, leaves)

    def send_up(self, message: Message, leaves: int) -> None:
        agents = self.system.agents
        agents.touch(message.line, self.agent)
        message.receiver = message.resolver = agents.above(self.agent, message.line)
        self.system.send(message, self.system.chance.leaves(message, leaves))

    # ---- messages --------------------------------------------------------------------------------

    def receive(self, message: Message) -> None:
        """C1: handles a message, which is an event of the client table."""
        line = self.find(message.line)
        if message.kind in PROBES:
            self.clock.process(self.probed(message))
        elif message.line not in self.lines:
            raise ProtocolError("a core was answered about a line it did not ask for")
        elif message.kind == "PutAck":
            line.step("PutAck")
            self.cache.forget(line)
            self.core.progress(line.line)
        else:
            self.granted(message, line)

    def granted(self, message: Message, line: CachedLine) -> None:
        """C1: handles a grant of data or of a right, and performs the accesses that wait for the
        line (H5.1).
        """
        now = self.clock.now
        cell = line.step(line.event(message))
        if "fill" in cell.actions:
            line.data[:] = message.data or b""
            self.system.counts.fetched(self.agent, message, self.core.counts(now))
        if "unblock" in cell.actions:
            self.system.send_all(client.unblock(message, self.agent), now)
        if request_of(cell):
            return self.request(line, cell, now)  # the copy to be upgraded was invalidated
        self.under_way -= 1
        if line not in self.cache.second:
            self.make_room(line)
            self.cache.second.add(line)
        self.cache.touch(line)
        line.locked_until = 0
        if line.protocol.is_dirty(line.state):
            self.hold(line, message)
        self.core.progress(line.line)
        return line.changed.ring()

    # ---- probes ----------------------------------------------------------------------------------

    def probed(self, probe: Message) -> Generator[simpy.Event, None, None]:
        """C2: answers a probe, `l2_hit` after its arrival or after the end of its wait (C3, C4)."""
        line = self.find(probe.line)
        yield from self.wait(probe, line)
        copy = bytes(line.data) if line.holds_copy else None
        cell = line.step(line.event(probe))
        messages = client.replies(
            line.protocol, probe, cell, self.agent, copy, copy is not None, self.agent
        )
        self.system.send_all(messages, self.clock.now + self.costs.l2_hit)
        if copy is not None and self.core.counts(self.clock.now):
            self.system.counts.probed(probe.kind)
        holder = line.contended.ends()
        self.leave(line)
        if holder is not None:
            contended.request_in_turn(self.core, line.line, holder)

    def leave(self, line: CachedLine) -> None:
        """Updates caches and reservations after a probe has been answered."""
        if line.holds_copy:
            return
        self.core.lose(line.line)
        if line.state != "I":
            self.cache.displace(line)
        elif not line.probes:
            self.cache.forget(line)

    def wait(self, probe: Message, line: CachedLine) -> Generator[simpy.Event, None, None]:
        """C3.1, C3.2: waits until a probe may be answered. An early probe waits for the grant, and
        is answered at least 1 ps after it. Any other probe waits only for the hold and the lock
        (C4).
        """
        until = self.wait_end(probe, line)
        while until is None or until > self.clock.now:
            line.probes += 1
            if line.protocol.may_store(line.state):
                line.contended.probe_waits()
            while until is None or until > self.clock.now:
                rung = line.changed.wait()
                yield rung if until is None else rung | self.clock.at(until, probe.rank)
                if rung.triggered:
                    until = self.ask_again(probe, line)
            line.probes -= 1
            until = self.wait_end(probe, line)

    def wait_end(self, probe: Message, line: CachedLine) -> int | None:
        """C3.1: returns the time until which the probe must wait; None: until the line changes."""
        early = "stall" in line.cell(line.event(probe)).actions
        return None if early else self.protection_end(probe, line)

    def hold(self, line: CachedLine, grant: Message) -> None:
        """C4: begins the hold of a line that has been granted in M."""
        hold = self.system.chance.hold(self.agent, self.costs.hold, grant.number)
        line.held_until = self.clock.now + hold
        line.contended.begins(grant.contended or line.probes > 0)

    def protection_end(self, probe: Message, line: CachedLine) -> int:
        """C4.1: returns when both the hold and the atomic that locks the line have ended."""
        if probe.kind == "Inv" or not line.protocol.may_store(line.state):
            return 0
        return max(line.held_until, line.locked_until)

    def ask_again(self, probe: Message, line: CachedLine) -> int:
        """C4.2: returns the time at which a probe is tried again after a grant, or after the end of
        an LR's lock.
        """
        return max(self.clock.now + 1, self.protection_end(probe, line))

    # ---- evictions -------------------------------------------------------------------------------

    def make_room(self, incoming: CachedLine) -> None:
        """C5: evicts lines until there is a way for another. A clean line is dropped silently, a
        dirty line is written back.
        """
        now = self.clock.now
        while victim := self.cache.second.victim(incoming, lambda line: is_evictable(line, now)):
            cell = victim.step("Evict")
            self.core.lose(victim.line)
            if "drop" in cell.actions:
                self.cache.forget(victim)
            else:
                self.put(victim)

    def put(self, line: CachedLine) -> None:
        """C5: writes a line back. Until the PutAck arrives, probes are answered, and the line is
        not requested again.
        """
        self.cache.displace(line)
        message = Message("Put", line.line, self.agent, 0, self.next_number())
        message.data, message.origin = bytes(line.data), self.agent
        self.send_up(message, self.clock.now + self.costs.l2_hit)

    # ---- neighbours ------------------------------------------------------------------------------

    def prefetch(self, number: int, event: str, hart: int, begins: int) -> None:
        """C11: requests the neighbour of a line that has just been requested."""
        adjacent = self.costs.prefetch == "adjacent" and self.under_way < self.costs.misses
        if adjacent and self.find(number ^ 1).state == "I":
            self.ready(number ^ 1, event, hart, begins + self.costs.instruction)
