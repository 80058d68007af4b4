"""Interprocessor interrupts, timers, and the registers behind them (rules I1 to I5).

MSIP[h] and mtimecmp[h] stand at hart h's core; to reach them from another core, and to interrupt
anybody, is a message like any other: its latency depends on where the two harts sit and on the
traffic between them.

Interface: `find` the register at an address; `here` or far; `read`, `write` where it stands;
`write_far`, `read_far` from elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from uncore.engine.reference.fabric import Target
from uncore.engine.reference.time import INTERRUPT, Rank
from uncore.program.abi import CONSTANTS

if TYPE_CHECKING:
    from uncore.engine.reference.core import Core
    from uncore.engine.reference.hart import Hart
    from uncore.engine.reference.system import System

MSIP = CONSTANTS["UC_CLINT_BASE"]
MTIMECMP = MSIP + CONSTANTS["UC_CLINT_MTIMECMP"]
SET = CONSTANTS["UC_MULTICAST_BASE"]
SEND = SET + CONSTANTS["UC_MULTICAST_SEND"]
WORD = 64  # harts
SOFTWARE, TIMER = 3, 7  # bits of mip
NEVER = 2**64 - 1
NS = 1000


@dataclass(frozen=True)
class Register:
    """One of a hart's two; where there is multicast, of each hart's own two kinds more."""

    timer: bool
    hart: Hart


@dataclass(frozen=True)
class Multicast:
    """A word of the set of harts, or with no number the one that sends (I5)."""

    word: int | None


class Interrupts:
    """The interrupt controllers of all harts."""

    def __init__(self, system: System) -> None:
        self.system, self.clock, self.spec = system, system.clock, system.machine.interrupt
        self.pending: set[Hart] = set()  # MSIP is set: a second IPI merges (I1)
        self.timers: dict[Hart, int] = {}  # mtimecmp, ns

    def find(self, address: int) -> Register | Multicast | None:
        """What stands at an address."""
        if self.spec.multicast and address == SEND:
            return Multicast(None)
        if self.spec.multicast and 0 <= address - SET < -(-len(self.system.harts) // WORD) * 8:
            return Multicast((address - SET) // 8)
        for timer, start, size in ((False, MSIP, 4), (True, MTIMECMP, 8)):
            number = (address - start) // size
            if 0 <= number < len(self.system.harts):
                return Register(timer, self.system.harts[number])
        return None

    def here(self, register: Register, hart: Hart, write: bool, value: int) -> bool:
        """May this hart use it at once?  An interrupt is a message even to one's own core (I1)."""
        interrupts = write and not register.timer and value & 1
        return register.hart.core is hart.core and not interrupts

    def own(self, hart: Hart, register: Multicast, write: bool, value: int) -> int:
        """A hart's own register of the set; the one that sends reads as zero."""
        if register.word is None:
            return 0
        if write:
            hart.multicast[register.word] = value
        return hart.multicast[register.word]

    # ---- where it stands -------------------------------------------------------------------------

    def read(self, register: Register) -> int:
        if register.timer:
            return self.timers.get(register.hart, NEVER)
        return int(register.hart in self.pending)

    def write(self, register: Register, value: int) -> None:
        """I2, I4."""
        hart = register.hart
        if not register.timer:
            (self.pending.add if value & 1 else self.pending.discard)(hart)
            return hart.interrupt(SOFTWARE, bool(value & 1))
        self.timers[hart] = value
        due = value * NS
        hart.interrupt(TIMER, due <= self.clock.now)
        if self.clock.now < due < NEVER:
            rank = self.system.rank(hart.core.agent, INTERRUPT, 0, hart.core.agent)
            self.clock.call(due, rank, lambda: self._expire(hart, value))
        return None

    def _expire(self, hart: Hart, value: int) -> None:
        if self.timers[hart] == value:
            hart.interrupt(TIMER, True)

    # ---- from elsewhere --------------------------------------------------------------------------

    def write_far(self, sender: Hart, register: Register, value: int) -> None:
        """It leaves when the sender has done its part (I1)."""
        leaves = self.clock.now + self.spec.send
        self._tell(sender.core, register, leaves, True, lambda: self.write(register, value))

    def write_many(self, sender: Hart) -> None:
        """One message to the whole set, which is empty afterwards (I5)."""
        core, system = sender.core, self.system
        chosen = [h for h in system.harts if sender.multicast[h.id // WORD] >> h.id % WORD & 1]
        sender.multicast.clear()
        if not chosen:
            return
        system.sent[core.agent] += 1
        count = system.sent[core.agent]
        targets = []
        for hart in chosen:
            rank = (hart.core.agent, INTERRUPT, hart.id, core.agent, count)
            targets.append(Target(hart.core.stop(0), rank, self._arrival(hart, rank)))
        system.fabric.send_many(core.stop(0), targets, self.clock.now + self.spec.send)

    def _arrival(self, hart: Hart, rank: Rank) -> Callable[[int], None]:
        def accept(time: int) -> None:
            act = lambda: self.write(Register(False, hart), 1)  # noqa: E731
            self.clock.call(time + self.spec.accept, rank, act)

        return accept

    def read_far(self, reader: Hart, register: Register) -> None:
        """A question and its answer; the hart waits (I4)."""

        def asked() -> None:
            value, now = self.read(register), self.clock.now
            self._tell(register.hart.core, register, now, False, lambda: reader.answered(value, 0),
                       reader.core)  # fmt: skip

        self._tell(reader.core, register, self.clock.now, True, asked)

    def _tell(
        self,
        sender: Core,
        register: Register,
        leaves: int,
        accepted: bool,
        action: Callable[[], None],
        receiver: Core | None = None,
    ) -> None:
        """A control message about a register; to it, it must be accepted (I2)."""
        target = receiver or register.hart.core
        rank = self.system.rank(target.agent, INTERRUPT, register.hart.id, sender.agent)
        delay = self.spec.accept if accepted else 0
        self.system.fabric.send(
            "control",
            sender.stop(0),
            target.stop(0),
            leaves,
            rank,
            lambda time: self.clock.call(time + delay, rank, action),
        )
