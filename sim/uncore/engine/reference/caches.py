"""A core's caches as one client of the protocol: requests, fills, probes, evictions (rules C, A5).

Interface: `ready` for an access, `receive` for a message.  The core is told of progress.
Invariant: what an access sees or changes is a line in a state whose row says `hit`.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import TYPE_CHECKING

import simpy

from uncore.engine.reference import client
from uncore.engine.reference.cache import Cache, Line
from uncore.engine.reference.message import PROBES, Message, ProtocolError
from uncore.engine.reference.time import Bell

if TYPE_CHECKING:
    from uncore.engine.reference.access import Access
    from uncore.engine.reference.system import System
    from uncore.protocol.shapes import Cell
    from uncore.topology.machine import Core as Costs

STABLE = ("S", "F", "E", "M", "O")


class Caches:
    """One core's.  `progress(line)` is called when a line has changed for the better, `lost(line)`
    when its copy has been taken, `passed(line, hart)` when it is that hart's alone no longer."""

    def __init__(
        self,
        system: System,
        agent: int,
        costs: Costs,
        progress: Callable[[int], None],
        lost: Callable[[int], None],
        passed: Callable[[int, int], None],
    ) -> None:
        self.system, self.clock, self.agent, self.costs = system, system.clock, agent, costs
        self.cache = Cache(self.costs)
        self.progress, self.lost, self.passed = progress, lost, passed
        self.requests = 0

    def find(self, number: int) -> Line | None:
        return self.cache.lines.get(number)

    # ---- accesses --------------------------------------------------------------------------------

    def ready(self, number: int, wish: str, hart: int) -> tuple[Line, int] | None:
        """The line with the right that Load or Store needs, and how much longer than in the first
        level it took; None: it has been asked for, or is in a state that must pass (C1)."""
        line = self.find(number)
        cell = self.system.protocol.client(line.state if line else "I", wish, number)
        if "stall" in cell.actions:
            return None
        if line is None:
            line = self.cache.lines[number] = Line(number, Bell(self.clock))
        if "hit" not in cell.actions:
            line.asker = hart
            self._request(line, cell, self.clock.now + self.costs.l2_hit)  # H5
            return None
        line.state = cell.next or line.state
        return line, 0 if self.cache.touch(line) else self.costs.l2_hit

    def goes_far(self, number: int) -> bool:
        """Is an atomic operation to be sent to where the data are (C8)?"""
        line = self.find(number)
        state = line.state if line else "I"
        return "Amo" in self.system.protocol.client(state, "Amo", number).actions

    def ask_far(self, access: Access) -> int:
        """Sends it: its number."""
        self.requests += 1
        message = Message("Amo", access.line, self.agent, 0, self.requests)
        message.operation = access
        self._ask(message, self.clock.now + self.costs.l2_hit)
        return self.requests

    def _request(self, line: Line, cell: Cell, leaves: int) -> None:
        line.state = cell.next or line.state
        self.requests += 1
        line.request = self.requests
        self._ask(
            Message(client.request_of(cell), line.number, self.agent, 0, line.request), leaves
        )

    def _ask(self, message: Message, leaves: int) -> None:
        self.system.homes.touch(message.line, self.agent)
        message.receiver = message.resolver = self.system.above(self.agent, message.line)
        self.system.send(message, leaves)

    # ---- messages --------------------------------------------------------------------------------

    def receive(self, message: Message) -> None:
        line = self.find(message.line)
        if message.kind in PROBES:
            self.clock.process(self._probed(message))
        elif line is None:
            raise ProtocolError("a core was answered about a line it did not ask for")
        elif message.kind == "PutAck":
            self._step(line, "PutAck")
            self.cache.forget(line)
            self.progress(line.number)
        else:
            self._granted(message, line)

    def _step(self, line: Line, event: str) -> Cell:
        cell = self.system.protocol.client(line.state, event, line.number)
        line.state = cell.next or line.state
        return cell

    def _granted(self, message: Message, line: Line) -> None:
        now = self.clock.now
        cell = self._step(line, client.event_of(message, line.state, line.request))
        if "fill" in cell.actions:
            line.data[:] = message.data or b""
            self.system.counts.fetched(self.agent, message)
        if "unblock" in cell.actions:
            self.system.send_all(client.completion(message, self.agent), now)
        if "GetM" in cell.actions:
            return self._request(line, cell, now)  # the copy to be upgraded was lost meanwhile
        if line not in self.cache.second:
            self._make_room(line)
            self.cache.second.add(line)
        self.cache.touch(line)
        if line.state == "M":
            line.held_until = now + self.costs.hold  # C4
            line.claimed = message.contended or line.waiting > 0  # C9
        line.locked_until = 0
        self.progress(line.number)
        line.changed.ring()
        return None

    def _make_room(self, incoming: Line) -> None:
        """C5: a clean line goes silently, a dirty one is put."""
        now = self.clock.now

        def may_go(line: Line) -> bool:
            kept = max(line.held_until, line.locked_until) > now
            return line.state in STABLE and not line.waiting and not kept

        while victim := self.cache.second.victim(incoming, may_go):
            self._evict(victim)

    def _evict(self, victim: Line) -> None:
        cell = self._step(victim, "Evict")
        self.lost(victim.number)
        if "drop" in cell.actions:
            self.cache.forget(victim)
            return
        self.cache.unsettle(victim)
        self.requests += 1
        put = Message("Put", victim.number, self.agent, 0, self.requests)
        put.data, put.origin = bytes(victim.data), self.agent
        self._ask(put, self.clock.now + self.costs.l2_hit)

    # ---- probes ----------------------------------------------------------------------------------

    def _probed(self, probe: Message) -> Generator[simpy.Event, None, None]:
        """Answers a probe, once it may be answered."""
        line = self.find(probe.line)
        if line is not None:
            yield from self._wait(probe, line)
        state = line.state if line else "I"
        cell = self.system.protocol.client(
            state, client.event_of(probe, state, line.request if line else 0), probe.line
        )
        copy = bytes(line.data) if line and state not in client.WITHOUT_COPY else None
        said = client.replies(probe, cell, self.agent, copy, copy is not None, self.agent)
        self.system.send_all(said, self.clock.now + self.costs.l2_hit)  # C2
        if copy is not None:
            self.system.counts.probed(probe.kind)
        if line is not None:
            line.state = cell.next or state
            claimed, line.claimed = line.claimed, False
            self._left(line)
            if claimed:
                self.passed(line.number, line.asker)

    def _left(self, line: Line) -> None:
        """After a probe: what is left of the line."""
        if line.state in client.WITHOUT_COPY:
            self.lost(line.number)
        if line.state == "I" and not line.waiting:
            self.cache.forget(line)
        elif line.state == "IM":
            self.cache.unsettle(line)

    def _wait(self, probe: Message, line: Line) -> Generator[simpy.Event, None, None]:
        """A probe waits for the grant it revokes (C3), for the hold (C4), for the SC (C6)."""
        until = self._kept(probe, line)
        while until is None or until > self.clock.now:
            line.waiting += 1
            line.claimed |= line.state in client.WRITABLE
            while until is None or until > self.clock.now:
                rung = line.changed.wait()
                yield rung if until is None else rung | self.clock.at(until, probe.rank)
                if rung.triggered:
                    until = max(self.clock.now + 1, self._protected(probe, line))
            line.waiting -= 1
            until = self._kept(probe, line)

    def _kept(self, probe: Message, line: Line) -> int | None:
        """Until when the line is kept from the probe; None: until the line changes."""
        event = client.event_of(probe, line.state, line.request)
        cell = self.system.protocol.client(line.state, event, line.number)
        return None if "stall" in cell.actions else self._protected(probe, line)

    def _protected(self, probe: Message, line: Line) -> int:
        owned = probe.kind != "Inv" and line.state in client.WRITABLE
        locked = line.locked_until if line.guarded else 0
        return max(line.held_until, locked) if owned else 0
