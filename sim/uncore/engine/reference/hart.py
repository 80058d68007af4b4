"""H. A hart: the timing of its instructions.

Registers, instructions and traps are those of the native hart library (`_native.Hart`), which
accesses its surroundings through a port (port.py).

Invariant: the hart executes an instruction when simulated time is its own clock, one at a time, so
no hart is ever ahead of the others, and S1 and S2 do not apply.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Generator
from typing import TYPE_CHECKING, Any

import simpy

from uncore.engine.reference import devices, locks
from uncore.engine.reference.access import Access, Value
from uncore.engine.reference.interrupts import NEVER, PS_PER_NS
from uncore.engine.reference.port import Port
from uncore.engine.reference.preexecution import pre_execute
from uncore.engine.reference.time import Bell, execution
from uncore.engine.reference.versions import WORD_BYTES
from uncore.engine.reference.weak import Weak
from uncore.program.abi import CONSTANTS

if TYPE_CHECKING:
    from uncore.engine.reference.core import Core

MARK = {
    name: CONSTANTS[f"UC_MARK_{name}"]
    for name in ("OP", "ROI_ON", "ROI_OFF", "DELAY", "START", "WARM_UP")
}
LONGEST_DELAY = CONSTANTS["UC_LONGEST_DELAY"]
STACK_BYTES, GUARD_BYTES = CONSTANTS["UC_STACK_STRIDE"], CONSTANTS["UC_STACK_GUARD"]


class Hart:
    """Hart `id` of the program; `index` is its position among the harts of its core."""

    def __init__(self, core: Core, id: int, isa: Any) -> None:
        self.core, self.system, self.clock = core, core.system, core.clock
        self.id, self.index, self.isa = id, len(core.harts), isa
        self.port = Port(self)
        # running, waiting (for memory), barred (it waits for a lock), idle, or stopped
        self.mode = "running"
        self.buffer: deque[Access] = deque()  # stores not yet visible, oldest first
        # Posted atomics in flight, which are the oldest entries of the buffer: number of the
        # request -> True if its value has arrived.
        self.posted: dict[int, bool] = {}
        self.stored = False  # the hart has stored since its last atomic or full fence (H1.6)
        self.pending: Access | None = None  # the access that the hart waits for
        self.since = 0  # when the pending access was issued
        # Number of the far atomic for which the hart waits, or WAITS_FOR_REGISTER; else 0.
        self.asked = 0
        self.reservation: int | None = None
        self.locked: int | None = None  # the line that its LR has locked
        self.tries = 0  # time at which a barred hart tries its access again
        self.met_lock = False  # the hart's atomic has met a lock of another hart of the core
        self.loaded: int | None = None  # the line of its last load
        self.overtaken = False  # another hart of the core has written the line `loaded` since
        self.multicast: Counter[int] = Counter()  # words of the hart's target set (I5)
        self.msip, self.mtimecmp = False, NEVER
        self.in_interrupt = False
        self.delaying = False
        # Time of an instruction, in ps, at the hart's share of the issue width.
        self.instruction = 0
        self.pausing, self.pauses_until = False, 0  # the hart pauses for most of its time (H6.5)
        self.stalls_from: int | None = None  # earliest end of the wrs in which it stalls (C7.1)
        self.wake = Bell(self.clock)
        isa.set_stack(
            core.system.stacks + id * STACK_BYTES + GUARD_BYTES, STACK_BYTES - GUARD_BYTES
        )
        self.began: int | None = None  # start of the operation being measured
        self.warms_up = False
        # times at which measuring stopped and began again, in turn (W1.1)
        self.measures: list[int] = []
        # The hart's view of memory (H8); None in total store order.
        self.weak = Weak(self) if core.costs.order == "weak" else None
        isa.whole = self.whole
        self.start_delay = core.system.chance.start(id)  # random delay of its measured part (V3)

    # ---- instructions ----------------------------------------------------------------------------

    def live(self) -> Generator[simpy.Event, None, None]:
        """H1: the process of a hart: executes each instruction at its own time while the hart runs,
        else waits to be woken.
        """
        while self.mode != "stopped":
            if self.mode != "running":
                yield self.wake.wait()
                continue
            execution_time = self.clock.at(self.isa.clock, execution(self.core.agent, self.index))
            may_end_early = self.delaying or self.stalls_from is not None
            yield execution_time | self.wake.wait() if may_end_early else execution_time
            if self.clock.now == self.isa.clock and execution_time.processed:
                self.execute()

    def execute(self) -> None:
        """H1.3, H2: executes one instruction. The hart library adds its time, and that of a
        misprediction, to the clock.
        """
        self.delaying = False
        if self.pausing and self.clock.now >= self.pauses_until:
            self.pausing, self.stalls_from = False, None
            self.core.share_issue()
        self.isa.horizon = self.clock.now
        pauses = self.isa.pauses
        match self.isa.run(self.port):
            case "later" if self.mode == "running":
                self.mode = "waiting"
            case "wfi":
                self.mode = "idle"
            case "awaits":
                self.stalls_from, self.mode = self.isa.clock, "idle"
            case "awaits shortly":
                self.stall_shortly()
            case "semihost":
                devices.semihost(self)
            case "fatal":
                cause = f"trapped without a handler, cause {self.isa.fatal_cause}"
                self.system.ending.end_by(self, "fatal", f"hart {self.id} {cause}")
            case "overflow":
                overflow_text = (
                    f"hart {self.id}: stack overflow, of {STACK_BYTES - GUARD_BYTES} bytes"
                )
                self.system.ending.end_by(self, "fatal", overflow_text)
        if self.isa.pauses > pauses:
            self.paused()
        self.core.share_issue()

    def time(self) -> int:
        """Returns the time in ns, which the program reads."""
        return int(self.isa.clock) // PS_PER_NS

    def waits_for(self, number: int) -> bool:
        return self.pending is not None and self.pending.line == number

    # ---- memory ----------------------------------------------------------------------------------

    def issue(self, access: Access) -> Value | None:
        """H3: performs the access and returns its value; None if the hart must wait for it."""
        if access.kind == "store" or access.is_atomic:
            self.stored = not access.is_atomic
        done = self.core.perform(self, access)
        if done is None:
            self.pending, self.since = access, self.clock.now
            if access.kind == "load":
                pre_execute(self)
            return None
        self.isa.clock += done[1]
        return done[0]

    @property
    def whole(self) -> int:
        """H3.4: returns the size of an aligned block. An access that crosses the end of a block is
        split into two accesses, the lower one first.
        """
        return WORD_BYTES if self.weak else self.system.machine.line

    # ---- its share of the issue width ------------------------------------------------------------

    @property
    def executes(self) -> bool:
        """H6.2: returns True if the hart counts as executing: also while it waits for a lock, but
        not while it waits for memory or sleeps in wfi.
        """
        return self.mode in ("running", "barred")

    def answered(self, value: Value, cost: int) -> None:
        """H6.3: completes the access that the hart waited for. The instruction retires at the
        present share of the issue width.
        """
        if self.weak and self.pending and self.asked and self.pending.is_amo:
            self.weak.exchanged(self.pending)
        self.pending, self.asked, self.mode = None, 0, "running"
        self.isa.clock = max(self.clock.now, self.isa.clock) + cost
        self.isa.resume(*(value if isinstance(value, tuple) else (value,)))
        self.core.share_issue()
        self.wake.ring()

    def paused(self) -> None:
        """H6.5: accounts for a pause. If it begins soon after the last one, the hart counts as
        pausing.
        """
        self.pausing |= self.clock.now < self.pauses_until
        self.pauses_until = self.isa.clock + self.core.costs.pause

    # ---- markers ---------------------------------------------------------------------------------

    def marker(self, code: int, value: int) -> None:
        """H7: executes a marker of the program. It takes one instruction, except a delay, which
        takes its own time.
        """
        if code in (MARK["START"], MARK["ROI_ON"]):
            self.isa.clock += self.start_delay
            self.start_delay = 0
        now, counts = int(self.isa.clock), self.system.counts
        if code == MARK["ROI_ON"]:
            counts.pace.enters(now)
            if self.warms_up:
                self.measures.append(now)
        elif code == MARK["ROI_OFF"]:
            counts.pace.leaves(now)
        if code == MARK["OP"]:
            counts.progressed(self.clock.now)
            counts.operated(max(1, value), None if self.began is None else now - self.began)
            if self.began is not None:
                counts.pace.done(now, max(1, value), (now - self.began) // max(1, value))
                self.began = now
        elif code == MARK["WARM_UP"]:
            self.measures.append(now)
            self.warms_up = True
        elif code in (MARK["START"], MARK["ROI_ON"]):
            self.warms_up = self.warms_up and code == MARK["START"]
            self.began = None if self.warms_up else now
        elif code == MARK["ROI_OFF"]:
            self.began = None
        elif code == MARK["DELAY"]:
            self.isa.clock += min(value, LONGEST_DELAY) * PS_PER_NS
            self.delaying = True

    def end_delay(self) -> None:
        """H7: ends a delay if an interrupt is about to be taken."""
        if self.delaying and self.isa.interruptible:
            self.isa.clock = min(self.isa.clock, self.clock.now)
            self.wake.ring()

    # ---- waiting for a reservation's loss --------------------------------------------------------

    def stall_shortly(self) -> None:
        """C7.1: stalls the hart in a wrs.sto, for at most the time of a pause."""
        self.stalls_from = self.isa.clock
        self.isa.clock = max(self.isa.clock, self.clock.now + self.core.costs.pause)
        self.pausing, self.pauses_until = True, self.isa.clock

    def end_stall(self) -> None:
        """C7.1: ends a wrs. H6.5: from its next instruction on, the hart has its share of the issue
        width again.
        """
        if self.stalls_from is not None:
            self.isa.clock = max(self.stalls_from, self.clock.now)
            self.stalls_from = None
            self.pausing, self.pauses_until, self.mode = True, self.isa.clock, "running"
            self.wake.ring()

    # ---- interrupts ------------------------------------------------------------------------------

    def interrupt(self, bit: int, level: bool) -> None:
        """I2: changes a bit of mip. If the interrupt is enabled, the hart's next step is the
        trap.
        """
        self.isa.interrupt(bit, level)
        self.end_delay()
        if self.isa.wakes:
            self.end_stall()
        self.leave_wfi()

    def enter_trap(self, interrupt: bool) -> None:
        """I2: charges the time of entering an interrupt's trap; any trap ends an LR's attempt."""
        if interrupt:
            if self.weak:
                self.weak.interrupted()
            self.isa.clock += self.core.time_at_share(self, self.system.machine.interrupt.entry)
        self.in_interrupt = interrupt
        locks.end_attempt(self)

    def leave_trap(self) -> None:
        """I2: charges the time of returning from an interrupt."""
        if self.in_interrupt:
            self.isa.clock += self.core.time_at_share(self, self.system.machine.interrupt.exit)
        self.in_interrupt = False

    def leave_wfi(self) -> None:
        """I3: wakes a hart from wfi if an enabled interrupt is pending."""
        if self.mode == "idle" and self.isa.wakes:
            self.isa.clock = max(self.isa.clock, self.clock.now)
            self.mode = "running"
            self.core.share_issue()
            self.wake.ring()

    def counts(self, at: int) -> bool:
        """W1.1: returns True if the hart is being measured at time `at`."""
        return sum(change <= at for change in self.measures) % 2 == 0
