"""H. A hart: its instructions in time.

Registers, instructions and traps are the native hart library's (`_native.Hart`), which sees the
world through a port (port.py).

Invariant: the hart executes an instruction when simulated time is its own clock, one at a time, so
neither it nor anybody else is ever ahead (S1 and S2 are not needed to be right).
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Generator
from typing import TYPE_CHECKING, Any

import simpy

from uncore.engine.reference import devices, locks
from uncore.engine.reference.access import Access, Value
from uncore.engine.reference.interrupts import NEVER, NS
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
STACK, GUARD = CONSTANTS["UC_STACK_STRIDE"], CONSTANTS["UC_STACK_GUARD"]


class Hart:
    """Hart `id` of the program, `index` among those of its core."""

    def __init__(self, core: Core, id: int, isa: Any) -> None:
        self.core, self.system, self.clock = core, core.system, core.clock
        self.id, self.index, self.isa = id, len(core.harts), isa
        self.port = Port(self)
        self.mode = "running"  # waiting: for memory; barred: for a lock; idle; stopped
        self.buffer: deque[Access] = deque()  # stores not yet visible, oldest first
        # number of an atomic under way, the oldest in the buffer -> True if it is done
        self.posted: dict[int, bool] = {}
        self.stored = False  # since its last atomic or full fence (H1.6)
        self.pending: Access | None = None  # the access that the hart waits for
        self.since = 0  # when that was issued
        self.asked = 0  # and has asked another for: its far atomic's number, or REGISTER
        self.reservation: int | None = None
        self.locked: int | None = None  # the line that its LR has locked
        self.tries = 0  # barred: when it tries again
        self.met_lock = False  # True if it met a lock of another hart of the core
        self.loaded: int | None = None  # the line of its last load
        self.overtaken = False  # another hart of the core has written that since
        self.multicast: Counter[int] = Counter()  # words of the set it may send to (I5)
        self.msip, self.mtimecmp = False, NEVER
        self.in_interrupt = False
        self.delaying = False
        self.instruction = 0  # ps that one takes at its share of the issue width
        self.pausing, self.pauses_until = False, 0  # for most of its time (H6.5)
        self.stalls_from: int | None = None  # in a wrs that ended then (C7.1)
        self.wake = Bell(self.clock)
        isa.set_stack(core.system.stacks + id * STACK + GUARD, STACK - GUARD)
        self.began: int | None = None  # start of the operation that is measured
        self.warms_up = False
        self.measures: list[int] = []  # when it stopped to be measured, began, stopped (W1.1)
        # memory as the hart has seen it (H8)
        self.weak = Weak(self) if core.costs.order == "weak" else None
        isa.whole = self.whole
        self.late = core.system.chance.start(id)  # start of the measured part (V3)

    # ---- instructions ----------------------------------------------------------------------------

    def live(self) -> Generator[simpy.Event, None, None]:
        """H1: executes while it runs, each instruction at its own time; else waits to be woken."""
        while self.mode != "stopped":
            if self.mode != "running":
                yield self.wake.wait()
                continue
            turn = self.clock.at(self.isa.clock, execution(self.core.agent, self.index))
            cut = self.delaying or self.stalls_from is not None
            yield turn | self.wake.wait() if cut else turn
            if self.clock.now == self.isa.clock and turn.processed:
                self.execute()

    def execute(self) -> None:
        """H1.3, H2: one instruction; the library adds what it takes, a misprediction too."""
        self.delaying = False
        if self.pausing and self.clock.now >= self.pauses_until:
            self.pausing, self.stalls_from = False, None
            self.core.share()
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
                self.system.ending.by(self, "fatal", f"hart {self.id} {cause}")
            case "overflow":
                what = f"hart {self.id}: stack overflow, of {STACK - GUARD} bytes"
                self.system.ending.by(self, "fatal", what)
        if self.isa.pauses > pauses:
            self.paused()
        self.core.share()

    def time(self) -> int:
        """In ns, as the program reads it."""
        return int(self.isa.clock) // NS

    def waits_for(self, number: int) -> bool:
        return self.pending is not None and self.pending.line == number

    # ---- memory ----------------------------------------------------------------------------------

    def issue(self, access: Access) -> Value | None:
        """H3: performs the access; where that cannot be now, the hart waits for it."""
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
        """H3.4: across the end of so many bytes an access is two, the lower one first."""
        return WORD_BYTES if self.weak else self.system.machine.line

    # ---- its share of the issue width ------------------------------------------------------------

    @property
    def executes(self) -> bool:
        """H6.2: not while it waits for memory or sleeps in wfi, but while it waits for a lock."""
        return self.mode in ("running", "barred")

    def answered(self, value: Value, cost: int) -> None:
        """H6.3: what it waited for has been done; the instruction retires at the present share."""
        if self.weak and self.pending and self.asked and self.pending.is_amo:
            self.weak.exchanged(self.pending)
        self.pending, self.asked, self.mode = None, 0, "running"
        self.isa.clock = max(self.clock.now, self.isa.clock) + cost
        self.isa.resume(*(value if isinstance(value, tuple) else (value,)))
        self.core.share()
        self.wake.ring()

    def paused(self) -> None:
        """H6.5: a pause that begins soon after the last one: the hart pauses most of its time."""
        self.pausing |= self.clock.now < self.pauses_until
        self.pauses_until = self.isa.clock + self.core.costs.pause

    # ---- markers ---------------------------------------------------------------------------------

    def marker(self, code: int, value: int) -> None:
        """H7: what the program says of itself takes one instruction, but a delay its time."""
        if code in (MARK["START"], MARK["ROI_ON"]):
            self.isa.clock += self.late
            self.late = 0
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
            self.isa.clock += min(value, LONGEST_DELAY) * NS
            self.delaying = True

    def end_delay(self) -> None:
        """H7: an interrupt that is to be taken ends it."""
        if self.delaying and self.isa.interruptible:
            self.isa.clock = min(self.isa.clock, self.clock.now)
            self.wake.ring()

    # ---- waiting for a reservation's loss --------------------------------------------------------

    def stall_shortly(self) -> None:
        """C7.1: a wrs.sto lasts as long as a pause does."""
        self.stalls_from = self.isa.clock
        self.isa.clock = max(self.isa.clock, self.clock.now + self.core.costs.pause)
        self.pausing, self.pauses_until = True, self.isa.clock

    def end_stall(self) -> None:
        """C7.1: a wrs ends; H6.5: its hart takes its share with its next instruction."""
        if self.stalls_from is not None:
            self.isa.clock = max(self.stalls_from, self.clock.now)
            self.stalls_from = None
            self.pausing, self.pauses_until, self.mode = True, self.isa.clock, "running"
            self.wake.ring()

    # ---- interrupts ------------------------------------------------------------------------------

    def interrupt(self, bit: int, level: bool) -> None:
        """I2: a bit of mip changes; if it is enabled, the trap is the next thing it does."""
        self.isa.interrupt(bit, level)
        self.end_delay()
        if self.isa.wakes:
            self.end_stall()
        self.leave_wfi()

    def enter_trap(self, interrupt: bool) -> None:
        """I2: entering an interrupt's trap takes its time; any trap ends an LR's attempt."""
        if interrupt:
            if self.weak:
                self.weak.interrupted()
            self.isa.clock += self.core.shared(self, self.system.machine.interrupt.entry)
        self.in_interrupt = interrupt
        locks.end_attempt(self)

    def leave_trap(self) -> None:
        """I2: and so does leaving it."""
        if self.in_interrupt:
            self.isa.clock += self.core.shared(self, self.system.machine.interrupt.exit)
        self.in_interrupt = False

    def leave_wfi(self) -> None:
        """I3: a bit that becomes pending wakes it."""
        if self.mode == "idle" and self.isa.wakes:
            self.isa.clock = max(self.isa.clock, self.clock.now)
            self.mode = "running"
            self.core.share()
            self.wake.ring()

    def counts(self, at: int) -> bool:
        """W1.1: whether it is measured then."""
        return sum(change <= at for change in self.measures) % 2 == 0
