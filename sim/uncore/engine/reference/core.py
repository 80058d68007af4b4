"""H. A core: harts that share private caches and the issue width, and when accesses are performed.

Interface: `perform` performs an access now or leaves it pending; `progress` is called when a line
has changed, `receive` when a message arrives; `share_issue` divides the issue width. Invariant: an
access at time t sees exactly the messages that reached the core by t (T3), because a hart executes
each instruction at its own time, after all messages that arrived by then.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from uncore.engine.reference import buffer, devices, far, loads_ahead, locks
from uncore.engine.reference.access import Access, Done, Value
from uncore.engine.reference.caches import Caches

if TYPE_CHECKING:
    from uncore.engine.reference.cache import CachedLine
    from uncore.engine.reference.hart import Hart
    from uncore.engine.reference.message import Message
    from uncore.engine.reference.system import System
    from uncore.topology.machine import Core as Costs


class Core:
    """One core with the harts that the job placed on it; `costs` are those of its kind (A1.3)."""

    def __init__(self, system: System, agent: int, costs: Costs) -> None:
        self.system, self.clock, self.agent, self.costs = system, system.clock, agent, costs
        self.harts: list[Hart] = []
        self.caches = Caches(self)
        self._executing = -1

    def stop(self, line: int) -> int:
        return self.system.machine.core_stops[self.agent]

    def receive(self, message: Message) -> None:
        if message.kind == "Value":
            far.answered(self, message)
        else:
            self.caches.receive(message)

    def cost(self, access: Access, in_first: bool) -> int:
        """H1.1, H1.2, H5.3: returns the time that an access adds to its instruction."""
        lookup = 0 if in_first else self.costs.l2_hit
        match access.kind:
            case "load":
                return self.costs.l1_hit + lookup
            case "amo" | "cas_pair" | "lr":
                return self.costs.atomic + lookup
            case "sc":
                return lookup
        return 0

    # ---- stores that leave their buffers ---------------------------------------------------------

    def pass_fence(self, hart: Hart, fence: Access) -> int:
        """H1.6: returns the time that a fence takes when the store buffer is empty."""
        if not fence.orders_write_before_read or not hart.stored:
            return 0
        hart.stored = False
        return self.costs.fence

    def drain(self, hart: Hart) -> None:
        """H3.2: makes the oldest stores visible, up to the first whose line the core may not write.
        Then tries again the access that waits for the buffer (H4).
        """
        if hart.weak:
            hart.weak.release()
        else:
            while hart.buffer and self.make_visible(hart, hart.buffer[0]):
                hart.buffer.popleft()
        self.attempt(hart)

    def make_visible(self, hart: Hart, oldest: Access) -> bool:
        """H3.2: makes the oldest store visible if the core may write its line; else requests the
        line and returns False.
        """
        if hart.posted or far.goes_far(self, oldest):
            return far.leave_buffer(hart)
        if self.caches.find(oldest.line).contended.access_must_wait(hart, oldest):
            return False
        ready = self.caches.ready(oldest.line, self.event_of(oldest), hart.index)
        if ready is None:
            return False
        self.writes(hart, oldest.line)
        self.apply(hart, oldest, ready[0])
        return True

    def lose(self, number: int) -> None:
        """Ends what depended on a copy of a line that the core has lost (C7, C10)."""
        locks.lose_reservations(self, number)
        loads_ahead.lost(self, number)

    def writes(self, hart: Hart, number: int) -> None:
        """Applies the effects of a write on the other harts of the core (C7, C10)."""
        locks.lose_reservations(self, number, writer=hart)
        loads_ahead.overtake(hart, number)

    def apply(self, hart: Hart, access: Access, line: CachedLine) -> Value:
        """Performs an access on its line. Returns the value read."""
        return hart.weak.apply(access, line) if hart.weak else access.apply(line)

    def ask_ahead(self, hart: Hart, store: Access) -> None:
        """H3.2: requests the line of a store that is not the oldest, unless the core may write it
        already.
        """
        line = self.caches.find(store.line)
        if not line.protocol.may_store(line.state) and not line.contended.access_must_wait(
            hart, store
        ):
            self.caches.ready(store.line, self.event_of(store), hart.index)

    def leaves(self, hart: Hart, number: int) -> bool:
        """H3.2: returns True if a store to the line is the next to leave the buffer, or may be
        (H8.1).
        """
        candidates = hart.buffer if hart.weak else list(hart.buffer)[:1]
        return any(store.line == number for store in candidates)

    # ---- accesses --------------------------------------------------------------------------------

    def perform(self, hart: Hart, access: Access) -> Done | None:
        """H5: performs the access at the present time. Returns None if it must wait."""
        if hart.asked:
            return None
        if access.unwanted and hart.weak and not self.costs.far_atomics:
            return hart.weak.store(access)
        if access.unwanted and not hart.weak and far.goes_far(self, access):
            return far.post(hart, access)
        if hart.buffer and self.waits(hart, access):
            return None
        match access.kind:
            case "fence":
                if hart.weak:
                    hart.weak.fence(access)
                return 0, self.pass_fence(hart, access)
            case "read" | "write":
                return devices.reach(hart, access)
            case "load":
                return self.load(hart, access)
            case "store":
                return buffer.store(hart, access)
            case "sc" if hart.reservation != access.line:
                locks.end_attempt(hart)
                self.system.counts.sc_failed(access.line, hart.counts(self.clock.now))
                return 1, 0
            case "sc":
                return self.in_cache(hart, access)
        return self.atomic(hart, access)

    def waits(self, hart: Hart, access: Access) -> bool:
        """Returns True if an access must wait until its hart's stores have left the buffer (H4,
        H8.3).
        """
        return hart.weak.waits(access) if hart.weak else access.drains

    def load(self, hart: Hart, access: Access) -> Done | None:
        """H5: performs a load, from the store buffer or from the line."""
        if value := buffer.forwarded(hart, access):
            return value
        if buffer.delays(hart, access):
            return None
        return self.in_cache(hart, access, loads_ahead.redo_time(hart, access))

    def atomic(self, hart: Hart, access: Access) -> Done | None:
        """H5, C8.10: performs an AMO or an LR, which may have to wait for a lock, unless it is a
        far AMO.
        """
        loads_ahead.note_atomic(hart)
        locks.unlock(hart)
        goes_far = far.goes_far(self, access)
        if not goes_far and not locks.may_begin(hart, access.line):
            return None
        extra_time = locks.starts_over(hart)
        if goes_far:
            far.send(hart, access)
            return None
        return self.in_cache(hart, access, extra_time)

    def in_cache(self, hart: Hart, access: Access, extra_time: int = 0) -> Done | None:
        """H5: performs the access if it hits. If it misses, requests the line and returns None."""
        if self.caches.find(access.line).contended.access_must_wait(hart, access):
            return None
        ready = self.caches.ready(access.line, self.event_of(access), hart.index)
        if ready is None:
            return None
        line, in_first = ready
        cost = self.cost(access, in_first) + extra_time
        if access.writes:
            self.writes(hart, line.line)
        value = self.apply(hart, access, line)
        match access.kind:
            case "load":
                loads_ahead.loaded(hart, line.line)
            case "amo" | "cas_pair":
                locks.lock(hart, line, cost)
            case "lr":
                locks.reserve(hart, line, cost)
            case "sc":
                locks.end_attempt(hart)
        return value, cost + (hart.weak.stalls() if hart.weak and access.writes else 0)

    def event_of(self, access: Access) -> str:
        """Returns an access's event, which is a column of the client table (C1, C8)."""
        if access.kind == "load" or (access.kind == "lr" and not self.costs.lr_exclusive):
            return "Load"
        return "Amo" if access.is_amo and self.costs.far_atomics else "Store"

    def progress(self, number: int) -> None:
        """H5.1: called when a line has arrived: performs the stores in the buffers that wait for
        it, then the pending accesses, in the order in which they were issued.
        """
        line = self.caches.find(number)
        harts = [hart for hart in self.harts if not line.contended.must_wait(hart)]  # H5.2
        for hart in harts:
            if self.leaves(hart, number):
                self.drain(hart)
        for hart in sorted(harts, key=lambda hart: (hart.since, hart.index)):
            if hart.waits_for(number):
                self.attempt(hart)

    def attempt(self, hart: Hart) -> None:
        """H5.2: tries the pending access again. It keeps waiting if a lock or the line's holder
        delays it.
        """
        if hart.mode == "waiting" and hart.pending and (done := self.perform(hart, hart.pending)):
            hart.answered(*done)
        self.share_issue()

    # ---- the issue width -------------------------------------------------------------------------

    def time_at_share(self, hart: Hart, alone: int) -> int:
        """H6.1: returns how long an action takes at the hart's present share of the issue width, if
        it takes `alone` on an otherwise idle core.
        """
        counts_as_executing = hart.executes and hart.pausing
        divides_width = self._executing + counts_as_executing > 1
        return alone * 1000 // self.costs.smt_share if divides_width else alone

    def share_issue(self) -> None:
        """H6.1, H6.5, H10: sets the times of the instructions and hits of each hart. Called when
        the set of harts that need issue slots may have changed.
        """
        self._executing = sum(hart.executes and not hart.pausing for hart in self.harts)
        for hart in self.harts:
            instruction = self.time_at_share(hart, self.costs.instruction)
            if instruction != hart.instruction:
                hart.instruction = instruction
                load_to_use = self.costs.l1_hit if self.costs.stall_on_use else 0
                costs = instruction, self.costs.mispredict, self.costs.pause, load_to_use
                hart.isa.set_cost(*costs)

    def counts(self, at: int) -> bool:
        """W1.1: returns True if a hart of the core is being measured at time `at`."""
        return any(hart.counts(at) for hart in self.harts)
