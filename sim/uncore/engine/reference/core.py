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
from uncore.engine.reference.interrupts import Multicast

if TYPE_CHECKING:
    from uncore.engine.reference.cache import Line
    from uncore.engine.reference.hart import Hart
    from uncore.engine.reference.message import Message
    from uncore.engine.reference.system import System
    from uncore.topology.machine import Core as Costs

LOCK = 64  # instructions an LR's lock lasts at most, beside its cost and a misprediction (C6)

Done = tuple[Value, int]  # what a hart is told, and what it cost beyond the instruction


class Core:
    """One core with the harts that the job placed on it."""

    def __init__(self, system: System, agent: int, costs: Costs) -> None:
        self.system, self.clock, self.agent, self.costs = system, system.clock, agent, costs
        self.harts: list[Hart] = []
        self.caches = Caches(system, agent, costs, self._progress, self._lost, self._pass)
        self._active = -1

    def stop(self, line: int) -> int:
        return self.system.machine.core_stops[self.agent]

    def receive(self, message: Message) -> None:
        if message.kind == "Value":
            self._answered(message)
        else:
            self.caches.receive(message)

    def _answered(self, message: Message) -> None:
        """A far atomic has been performed (C8)."""
        for hart in self.harts:
            if hart.asked == message.number:
                hart.answered(message.value, 0)
            elif message.number in hart.posted:
                hart.posted[message.number] = True
                self._drain(hart)

    @property
    def buffer_size(self) -> int:
        """Stores that each hart may have under way (H3)."""
        return max(1, self.costs.store_buffer // len(self.system.machine.harts_of(self.agent)))

    def share(self) -> None:
        """The number of harts that execute may have changed: what an instruction takes (H6)."""
        active = sum(hart.mode in ("running", "barred") for hart in self.harts)
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
        if hart.asked:
            return None
        far = access.kind in ("amo", "cas_pair") and self._goes_far(access)
        if far and access.posted:
            return self._post(hart, access)
        if access.drains and hart.buffer:
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
            case "amo" | "cas_pair" | "lr" if not self._may_begin(hart, access.line):
                return None
            case "amo" | "cas_pair" if far:
                hart.asked = self.caches.ask_far(access)
                return None
            case "load" if (found := hart.forwarded(access)) is not None:
                return found
        return self._in_cache(hart, access)

    def _far(self, hart: Hart, access: Access) -> Done | None:
        """A register of another core (I1, I4)."""
        interrupts = self.system.interrupts
        register = interrupts.find(access.address)
        assert register is not None
        if isinstance(register, Multicast):
            interrupts.write_many(hart)
            return 0, interrupts.spec.send
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
        return self._buffer(hart, access)

    def _buffer(self, hart: Hart, access: Access) -> Done | None:
        if len(hart.buffer) >= self.buffer_size:
            return None
        hart.buffer.append(access)
        return 0, 0

    def _goes_far(self, access: Access) -> bool:
        return self.costs.far_atomics and self.caches.goes_far(access.line)

    def _post(self, hart: Hart, access: Access) -> Done | None:
        """A far atomic that nobody waits for (C8)."""
        done = self._buffer(hart, access)
        if done and hart.buffer[0].kind == "amo":
            self._send_posted(hart)
        return done

    def _in_cache(self, hart: Hart, access: Access) -> Done | None:
        if access.kind == "load" and hart.overlapped(access):
            return None
        reads = access.kind == "load" or (access.kind == "lr" and not self.costs.lr_exclusive)
        if access.kind != "load" and self._is_closed(hart, access.line):
            return None
        ready = self.caches.ready(access.line, "Load" if reads else "Store", hart.index)  # C1
        restarts, hart.restarts = hart.restarts, False
        if ready is None:
            return None
        line, lookup = ready
        cost = self._cost(access, lookup) + (self.costs.mispredict if restarts else 0)
        if access.kind not in ("load", "lr"):
            self._written(line, hart)
        value = access.apply(line)
        if access.kind in ("amo", "cas_pair"):
            self._lock(hart, line, cost)
        if access.kind == "lr":
            self._reserve(hart, line, cost)
        if access.kind == "sc":
            self._end_attempt(hart)
        return value, cost

    def _cost(self, access: Access, lookup: int) -> int:
        """H1: beyond the instruction."""
        if access.kind == "load":
            return self.costs.l1_hit + lookup
        if access.kind in ("amo", "cas_pair", "lr"):
            return self.costs.atomic + lookup
        return lookup if access.kind == "sc" else 0

    def _reserve(self, hart: Hart, line: Line, cost: int) -> None:
        hart.reservation = line.number
        if line.state in WRITABLE:
            costs = self.costs
            self._lock(hart, line, cost + LOCK * costs.instruction + costs.mispredict)
            hart.locked = line.number

    # ---- locks (C6) ------------------------------------------------------------------------------

    def _may_begin(self, hart: Hart, number: int) -> bool:
        """Not while another hart's atomic is under way on the line, nor before who has waited for
        this hart's own to end: then it tries again.  Nor while the line is another's: it waits."""
        now = self.clock.now
        self.unlock(hart)
        line = self.caches.find(number)
        if line is None or line.state not in WRITABLE:
            return True
        if line.closed_to(hart.index):
            return False
        if line.locked_until > now:
            hart.restarts = True
            hart.bar(line.locked_until)
        elif (line.waiting and line.held_until < now) or self._is_behind(hart, number):
            hart.bar(now + 2)  # they have asked again by then
        else:
            return True
        return False

    def _is_closed(self, hart: Hart, number: int) -> bool:
        """C9: is the line another hart's alone, but for an SC whose LR has locked it?"""
        line = self.caches.find(number)
        return line is not None and line.closed_to(hart.index) and hart.locked != number

    def _is_behind(self, hart: Hart, number: int) -> bool:
        """Does another hart wait longer for a lock of the line?"""
        mine = (hart.since if hart.pending else self.clock.now, hart.index)
        waiting = (h for h in self.harts if h.mode == "barred" and h.waits_for(number))
        return any((other.since, other.index) < mine for other in waiting)

    def _lock(self, hart: Hart, line: Line, duration: int) -> None:
        line.guarded = self.clock.now <= line.held_until
        line.locked_until = self.clock.now + duration
        for other in self.harts:
            if other is not hart and other.locked == line.number:
                other.locked = None

    def _end_attempt(self, hart: Hart) -> None:
        hart.reservation = None
        self.unlock(hart)

    def unlock(self, hart: Hart) -> None:
        """Probes and harts that its LR kept off may ask again."""
        now = self.clock.now
        line = self.caches.find(hart.locked) if hart.locked is not None else None
        hart.locked = None
        if line and line.locked_until > now:
            line.locked_until = now
            line.changed.ring()
            for other in self.harts:
                if (
                    other.mode == "barred"
                    and other.tries > now + 1
                    and other.waits_for(line.number)
                ):
                    other.bar(now + 1)

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
        """A line changed: buffered stores first, then waiting operations as issued (H5)."""
        line = self.caches.find(number)
        harts = [hart for hart in self.harts if not (line and line.closed_to(hart.index))]  # C9
        for hart in harts:
            if hart.buffer and hart.buffer[0].line == number:
                self._drain(hart)
        for hart in sorted(harts, key=lambda hart: (hart.since, hart.index)):
            if hart.mode == "waiting" and hart.waits_for(number):
                self._attempt(hart)

    def _pass(self, number: int, last: int) -> None:
        """A hart's time with a line that others waited for is over: the rest ask in turn (C9)."""
        for hart in (*self.harts[last + 1 :], *self.harts[: last + 1]):
            if hart.buffer and hart.buffer[0].line == number:
                self._drain(hart)
            elif hart.mode == "waiting" and hart.waits_for(number):
                self._attempt(hart)

    def _drain(self, hart: Hart) -> None:
        """Makes the oldest stores visible, as many as have their lines; asks for the next one's."""
        while hart.buffer and self._make_visible(hart, hart.buffer[0]):
            hart.buffer.popleft()
        self._attempt(hart)

    def _make_visible(self, hart: Hart, oldest: Access) -> bool:
        """The oldest store or posted atomic; False: it has to wait."""
        number = next(iter(hart.posted), None)
        if number is not None and hart.posted[number]:
            del hart.posted[number]
            return True
        if hart.posted or (oldest.kind == "amo" and self._goes_far(oldest)):
            self._send_posted(hart)
            return False
        if self._is_closed(hart, oldest.line):
            return False
        wish = "Store" if oldest.kind == "store" else "Amo"
        ready = self.caches.ready(oldest.line, wish, hart.index)
        if ready is None:
            return False
        self._written(ready[0], hart)
        oldest.apply(ready[0])
        return True

    def _send_posted(self, hart: Hart) -> None:
        """The oldest, and those for the same line behind it: one path keeps them in order (F5)."""
        oldest = hart.buffer[0]
        for place, access in enumerate(hart.buffer):
            if access.kind != "amo" or access.line != oldest.line or not self._goes_far(access):
                return
            if place >= len(hart.posted):
                hart.posted[self.caches.ask_far(access)] = False

    def _attempt(self, hart: Hart) -> None:
        if hart.mode == "waiting" and hart.pending and (done := self.perform(hart, hart.pending)):
            hart.answered(*done)
        self.share()

    def try_again(self, hart: Hart) -> None:
        """A lock that its atomic met may have ended (C6)."""
        hart.mode = "waiting"
        self._attempt(hart)
