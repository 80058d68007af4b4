"""A hart in its environment: the port it sees the world through, and its life as a process.

Registers, instructions and traps are the native hart library's (`_native.Hart`), which calls the
methods of *the port* below: each memory operation answers its value now, or None for later.

Invariant: the hart executes an instruction when simulated time is its own clock, one at a time, so
neither it nor anybody else is ever ahead (S1 and S2 are not needed to be right).
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Generator
from typing import TYPE_CHECKING, Any

import simpy

from uncore.engine.reference.access import Access, Value
from uncore.engine.reference.interrupts import NS, Multicast
from uncore.engine.reference.time import EXECUTION, Bell
from uncore.program.abi import CONSTANTS

if TYPE_CHECKING:
    from uncore.engine.reference.core import Core, Done

MARK = {
    name: CONSTANTS[f"UC_MARK_{name}"] for name in ("OP", "ROI_ON", "ROI_OFF", "DELAY", "START")
}
LONGEST_DELAY = 10**15  # ns: what a guest asks for with a negative time must not turn time back


class Hart:
    """Thread `id` of the job, `index` among the harts of its core."""

    def __init__(self, core: Core, id: int, isa: Any) -> None:
        self.core, self.system, self.clock = core, core.system, core.clock
        self.id, self.index, self.isa = id, len(core.harts), isa
        self.mode = "running"  # waiting: for memory; barred: for a lock; idle: in wfi; stopped
        self.buffer: deque[Access] = deque()  # stores not yet visible, oldest first
        self.posted: dict[int, bool] = {}  # of the oldest: atomics under way; done?
        self.pending: Access | None = None  # what it waits for
        self.since = 0  # when that was issued
        self.asked = 0  # and has asked another for: its far atomic's number, or REGISTER
        self.reservation: int | None = None
        self.locked: int | None = None  # the line that its LR has locked
        self.tries = 0  # barred: when it tries again
        self.restarts = False  # it met the lock of another hart of the core
        self.multicast: Counter[int] = Counter()  # words of the set it may send to (I5)
        self.in_interrupt = False
        self.delaying = False
        self.wake = Bell(self.clock)
        stack = core.system.stacks + id * CONSTANTS["UC_STACK_STRIDE"]
        self.guard = range(stack, stack + CONSTANTS["UC_STACK_GUARD"])  # its stack's last bytes
        self.began: int | None = None  # of the operation it measures

    # ---- its life --------------------------------------------------------------------------------

    def live(self) -> Generator[simpy.Event, None, None]:
        """Executes while it runs; else waits to be woken."""
        while self.mode != "stopped":
            if self.mode != "running":
                yield self.wake.wait()
                continue
            turn = self.clock.at(self.isa.clock, (self.core.agent, EXECUTION, 0, self.index))
            yield turn | self.wake.wait() if self.delaying else turn
            if self.clock.now == self.isa.clock and turn.processed:
                self._execute()

    def _execute(self) -> None:
        """One instruction."""
        self.delaying = False
        self.isa.horizon = self.clock.now
        match self.isa.run(self):
            case "later" if self.mode == "running":
                self.mode = "waiting"
            case "wfi":
                self.mode = "idle"
            case "semihost":
                self.system.devices.semihost(self)
            case "fatal":
                cause = f"trapped without a handler, cause {self.isa.fatal_cause}"
                self.system.end_by(self, "fatal", f"hart {self.id} {cause}")
        self.core.share()

    def answered(self, value: Value, cost: int) -> None:
        """The operation it waited for has been performed, now (H5)."""
        self.pending, self.asked, self.mode = None, 0, "running"
        self.isa.clock = max(self.clock.now, self.isa.clock) + cost
        self.isa.resume(*(value if isinstance(value, tuple) else (value,)))
        self.core.share()
        self.wake.ring()

    def waits_for(self, number: int) -> bool:
        return self.pending is not None and self.pending.line == number

    def bar(self, until: int) -> None:
        """It executes its atomic again then: before what a higher thread executes (H6)."""

        def again() -> None:
            if self.mode == "barred" and self.tries == until:
                self.core.try_again(self)

        self.mode, self.tries = "barred", until
        self.clock.call(until, (self.core.agent, EXECUTION, 0, self.index), again)

    def interrupt(self, bit: int, level: bool) -> None:
        """A bit of mip changes: a delay ends early (H7), a hart in wfi wakes (I3)."""
        self.isa.interrupt(bit, level)
        now = self.clock.now
        if self.delaying and self.isa.interruptible:
            self.isa.clock = min(self.isa.clock, now)
            self.wake.ring()
        if self.mode == "idle" and self.isa.wakes:
            self.isa.clock = max(self.isa.clock, now)
            self.mode = "running"
            self.core.share()
            self.wake.ring()

    # ---- its store buffer (H3) -------------------------------------------------------------------

    def forwarded(self, load: Access) -> Done | None:
        """The load's value, if the youngest store that overlaps it covers it."""
        store = self._youngest(load)
        if store is None or store.kind == "amo" or not _covers(store, load):
            return None
        assert isinstance(store.value, int)
        value = store.value >> 8 * (load.address - store.address)
        return value % (1 << 8 * load.size), self.core.costs.l1_hit

    def overlapped(self, load: Access) -> bool:
        """Must the load wait until the buffer has drained?"""
        return self._youngest(load) is not None

    def _youngest(self, load: Access) -> Access | None:
        return next((store for store in reversed(self.buffer) if _overlap(store, load)), None)

    # ---- the port --------------------------------------------------------------------------------

    def load(self, address: int, size: int) -> Value | None:
        return self._issue(Access("load", address, size))

    def store(self, address: int, size: int, value: int) -> Value | None:
        return self._issue(Access("store", address, size, value))

    def amo(
        self, operation: str, address: int, size: int, operand: int, expected: int, posted: bool
    ) -> Value | None:
        return self._issue(Access("amo", address, size, operand, operation, expected, posted))

    def cas_pair(
        self, address: int, operand: tuple[int, int], expected: tuple[int, int]
    ) -> Value | None:
        return self._issue(Access("cas_pair", address, 16, operand, expected=expected))

    def lr(self, address: int, size: int) -> Value | None:
        return self._issue(Access("lr", address, size))

    def sc(self, address: int, size: int, value: int) -> Value | None:
        return self._issue(Access("sc", address, size, value))

    def fence(self) -> Value | None:
        return self._issue(Access("fence"))

    def _issue(self, access: Access) -> Value | None:
        done = self.core.perform(self, access)
        if done is None:
            self.pending, self.since = access, self.clock.now
            return None
        self.isa.clock += done[1]
        return done[0]

    def has_device(self, address: int) -> bool:
        return bool(self.system.interrupts.find(address)) or self.system.devices.has(address)

    def device(self, address: int, write: bool, value: int) -> Value | None:
        """A device's register; what is a message to another core waits as an atomic does (H4)."""
        interrupts = self.system.interrupts
        register = interrupts.find(address)
        if register is None:
            return self.system.devices.access(self, address, write, value)
        if isinstance(register, Multicast) and not (write and register.word is None):
            return interrupts.own(self, register, write, value)
        if isinstance(register, Multicast) or not interrupts.here(register, self, write, value):
            return self._issue(Access("write" if write else "read", address, value=value))
        if write:
            interrupts.write(register, value)
        return interrupts.read(register)

    def fetch(self, address: int, size: int) -> bytes:
        return self.system.read(address, size)

    def time(self) -> int:
        return int(self.isa.clock) // NS

    def cycle(self) -> int:
        return int(self.isa.clock) // max(1, self.core.costs.instruction)

    def gave_up(self) -> None:
        """A branch away from an LR, before its SC (C6)."""
        self.core.unlock(self)

    def trapped(self, interrupt: bool) -> None:
        """A trap ends an LR's attempt (C6, C7); an interrupt's takes its time (I2)."""
        if interrupt:
            self.isa.clock += self.system.machine.interrupt.entry
        self.in_interrupt = interrupt
        self.reservation = None
        self.core.unlock(self)

    def returned(self) -> None:
        if self.in_interrupt:
            self.isa.clock += self.system.machine.interrupt.exit
        self.in_interrupt = False

    def marker(self, code: int, value: int) -> None:
        """HINTs that tell the engine what the program is doing (H7)."""
        now = int(self.isa.clock)
        if code == MARK["OP"]:
            if self.began is not None:
                self.system.counts.operated(now - self.began, max(1, value))
                self.began = now
            else:
                self.system.counts.operations += max(1, value)
        elif code in (MARK["START"], MARK["ROI_ON"]):
            self.began = now
        elif code == MARK["ROI_OFF"]:
            self.began = None
        elif code == MARK["DELAY"]:
            self.isa.clock += min(value, LONGEST_DELAY) * NS
            self.delaying = True


def _overlap(store: Access, load: Access) -> bool:
    return store.address < load.address + load.size and load.address < store.address + store.size


def _covers(store: Access, load: Access) -> bool:
    return store.address <= load.address and load.address + load.size <= store.address + store.size
