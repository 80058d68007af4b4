"""A core: harts that share private caches and the issue width, and the order of their accesses.

Interface: `perform` an access now or leave it waiting, `receive` a message, `share` the width.
Invariant: an access at time t sees exactly the messages that reached the core by t (T3), because a
hart executes each instruction at its own time, after everything that arrived by then (T2).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from uncore.engine.reference.access import REGISTER, Access, Value, number
from uncore.engine.reference.caches import Caches
from uncore.engine.reference.client import WRITABLE

if TYPE_CHECKING:
    from uncore.engine.reference.cache import Line
    from uncore.engine.reference.hart import Hart
    from uncore.engine.reference.message import Message
    from uncore.engine.reference.system import System

LOCK = 64  # instructions an LR keeps probes off, beside an atomic and a misprediction (C6)

Done = tuple[Value, int]  # what a hart is told, and what it cost beyond the instruction


class Core:
    """One core with the harts that the job placed on it."""

    def __init__(self, system: System, agent: int) -> None:
        self.system, self.clock, self.agent = system, system.clock, agent
        self.costs = system.machine.core
        self.harts: list[Hart] = []
        self.caches = Caches(system, agent, self._progress, self._lost)
        self._active = -1

    def stop(self, line: int) -> int:
        return self.system.machine.core_stops[self.agent]

    def receive(self, message: Message) -> None:
        if message.kind == "Value":
            hart = next(hart for hart in self.harts if hart.asked == message.number)
            hart.answered(message.value, 0)
        else:
            self.caches.receive(message)

    @property
    def buffer_size(self) -> int:
        """Stores that each hart may have under way (H3)."""
        return max(1, self.costs.store_buffer // self.system.machine.threads_per_core)

    def share(self) -> None:
        """The number of harts that execute may have changed: what an instruction takes (H6)."""
        active = sum(hart.mode == "running" for hart in self.harts)
        if active != self._active:
            self._active = active
            speed = self.costs.smt_share if active > 1 else 1000
            instruction = self.costs.instruction * 1000 // speed
            for hart in self.harts:
                hart.isa.set_cost(instruction, self.costs.mispredict, self.costs.pause)

    # ---- accesses --------------------------------------------------------------------------------

    def perform(self, hart: Hart, access: Access) -> Done | None:
        """The access at the present time, or None: it waits."""
        if access.address in hart.guard:
            self.system.overflow(hart)
            return None
        if hart.asked or (access.drains and hart.buffer):
            return None  # H4
        match access.kind:
            case "fence":
                return 0, 0
            case "read" | "write":
                return self._far(hart, access)
            case "store":
                return self._store(hart, access)
            case "sc" if hart.reservation != access.line:
                self._end_attempt(hart)
                return 1, 0  # C7
            case "amo" | "cas_pair" if self.costs.far_atomics and (
                asked := self.caches.ask_far(access)
            ):
                hart.asked = asked
                return None
            case "load" if (found := hart.forwarded(access)) is not None:
                return found
        return self._in_cache(hart, access)

    def _far(self, hart: Hart, access: Access) -> Done | None:
        """A register of another core (I1, I4)."""
        interrupts = self.system.interrupts
        register = interrupts.find(access.address)
        assert register is not None
        if access.kind == "write":
            interrupts.write_far(hart, register, number(access.value))
            return 0, interrupts.spec.send
        interrupts.read_far(hart, register)
        hart.asked = REGISTER
        return None

    def _store(self, hart: Hart, access: Access) -> Done | None:
        """At once, or into the store buffer (H3)."""
        if not hart.buffer and (done := self._in_cache(hart, access)):
            return done
        if len(hart.buffer) >= self.buffer_size:
            return None
        hart.buffer.append(access)
        return 0, 0

    def _in_cache(self, hart: Hart, access: Access) -> Done | None:
        if access.kind == "load" and hart.overlapped(access):
            return None
        reads = access.kind == "load" or (access.kind == "lr" and not self.costs.lr_exclusive)
        ready = self.caches.ready(access.line, "Load" if reads else "Store")  # C1
        if ready is None:
            return None
        line, lookup = ready
        if access.kind not in ("load", "lr"):
            self._written(line, hart)
        value = access.apply(line)
        if access.kind == "lr":
            self._reserve(hart, line)
        if access.kind == "sc":
            self._end_attempt(hart)
        return value, self._cost(access, lookup)

    def _cost(self, access: Access, lookup: int) -> int:
        """H1: beyond the instruction."""
        if access.kind == "load":
            return self.costs.l1_hit + lookup
        if access.kind in ("amo", "cas_pair", "lr"):
            return self.costs.atomic + lookup
        return lookup if access.kind == "sc" else 0

    def _reserve(self, hart: Hart, line: Line) -> None:
        hart.reservation = line.number
        if hart.pending and line.state in WRITABLE:  # it had to wait for the line: C6
            hart.locked = line.number
            line.locked_until = (
                self.clock.now
                + LOCK * self.costs.instruction
                + self.costs.atomic
                + self.costs.mispredict
            )

    def _end_attempt(self, hart: Hart) -> None:
        hart.reservation = None
        self.unlock(hart)

    def unlock(self, hart: Hart) -> None:
        """Probes that the hart's LR kept off may ask again (C6)."""
        line = self.caches.find(hart.locked) if hart.locked is not None else None
        hart.locked = None
        if line and line.locked_until > self.clock.now:
            line.locked_until = self.clock.now
            line.changed.ring()

    def _written(self, line: Line, by: Hart) -> None:
        """Its siblings lose their reservations of the line (C7)."""
        for hart in self.harts:
            if hart is not by and hart.reservation == line.number:
                hart.reservation = None

    def _lost(self, number: int) -> None:
        """The line's copy has been taken (C7)."""
        for hart in self.harts:
            if hart.reservation == number:
                hart.reservation = None

    # ---- what waits ------------------------------------------------------------------------------

    def _progress(self, number: int) -> None:
        """A line changed: buffered stores first, then waiting operations, hart by hart (H5)."""
        for hart in self.harts:
            if hart.buffer and hart.buffer[0].line == number:
                self._drain(hart)
            if hart.pending and hart.pending.line == number:
                self._attempt(hart)

    def _drain(self, hart: Hart) -> None:
        """Makes the oldest stores visible, as many as have their lines; asks for the next one's."""
        while hart.buffer and (ready := self.caches.ready(hart.buffer[0].line, "Store")):
            self._written(ready[0], hart)
            hart.buffer.popleft().apply(ready[0])
        self._attempt(hart)

    def _attempt(self, hart: Hart) -> None:
        if hart.pending and (done := self.perform(hart, hart.pending)):
            hart.answered(*done)
