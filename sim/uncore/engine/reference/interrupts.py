"""I. Interprocessor interrupts and timers: MSIP[h] and mtimecmp[h], each at hart h's core.

To reach them from another core, and to interrupt anybody, is a message like any other: its latency
depends on where the two harts sit and on the traffic between them.

Interface: `find` what stands at an address: `is_here`, `use` it at once, `reach` it by message.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from uncore.engine.reference.access import REGISTER, Access, Done, number
from uncore.program.abi import CONSTANTS

if TYPE_CHECKING:
    from uncore.engine.reference.core import Core
    from uncore.engine.reference.hart import Hart
    from uncore.engine.reference.system import System

MSIP = CONSTANTS["UC_CLINT_BASE"]
MTIMECMP = MSIP + CONSTANTS["UC_CLINT_MTIMECMP"]
SOFTWARE, TIMER = 3, 7  # bits of mip
NEVER = 2**64 - 1
NS = 1000


def find(system: System, address: int) -> Register | None:
    """The register at an address."""
    kinds: tuple[tuple[type[Register], int, int], ...] = ((Msip, MSIP, 4), (Mtimecmp, MTIMECMP, 8))
    for kind, start, size in kinds:
        index = (address - start) // size
        if 0 <= index < len(system.harts):
            return kind(system.harts[index])
    return None


@dataclass(frozen=True)
class Register(ABC):
    """One of a hart's two."""

    hart: Hart

    def tell(
        self, sender: Core, receiver: Core, leaves: int, delay: int, action: Callable[[], None]
    ) -> None:
        """T2.3: a message about a register has its hart's number for a line."""
        clock = sender.clock
        rank = clock.rank(receiver.agent, "Interrupt", self.hart.id, sender.agent)
        arrived = lambda time: clock.call(time + delay, rank, action)  # noqa: E731
        fabric = sender.system.fabric
        route = fabric.route(sender.stop(0), receiver.stop(0))
        fabric.send("control", route, leaves, rank, arrived)

    def reach(self, user: Hart, access: Access) -> Done | None:
        """I1: a store occupies its hart for `send`, and leaves then; for a load the hart waits."""
        if access.kind == "read":
            self.read_far(user)
            return None
        send = user.core.shared(user, user.system.machine.interrupt.send)
        there = lambda: self.write(number(access.value))  # noqa: E731
        self.deliver(user.core, user.clock.now + send, there)
        return 0, send

    def deliver(self, sender: Core, leaves: int, action: Callable[[], None]) -> None:
        """I2: a control message to the hart's core, which acts `accept` after it arrived."""
        accept = sender.system.machine.interrupt.accept
        self.tell(sender, self.hart.core, leaves, accept, action)

    def is_here(self, user: Hart, write: bool, value: int) -> bool:
        """I4.1: the harts of its core use it at once, but an interrupt is always a message (I1)."""
        return self.hart.core is user.core and not (write and self.interrupts(value))

    def use(self, user: Hart, write: bool, value: int) -> int:
        """I4.1: by a hart of the same core."""
        if write:
            self.write(value)
        return self.read()

    def read_far(self, reader: Hart) -> None:
        """I4.2: a control message there, `accept`, and a control message back; the hart waits."""
        reader.asked, core = REGISTER, self.hart.core

        def asked() -> None:
            value = self.read()
            told = lambda: reader.answered(value, 0)  # noqa: E731
            self.tell(core, reader.core, core.clock.now, 0, told)

        self.deliver(reader.core, reader.clock.now, asked)

    def interrupts(self, value: int) -> bool:
        """Would this value, written, interrupt the hart?"""
        return False

    @abstractmethod
    def read(self) -> int:
        """Its value now."""

    @abstractmethod
    def write(self, value: int) -> None:
        """Effect of a write on the hart, now."""


class Msip(Register):
    """A flag: an interprocessor interrupt is pending."""

    def interrupts(self, value: int) -> bool:
        return bool(value & 1)

    def read(self) -> int:
        return int(self.hart.msip)

    def write(self, value: int) -> None:
        self.hart.msip = bool(value & 1)
        self.hart.interrupt(SOFTWARE, self.hart.msip)


class Mtimecmp(Register):
    """When the hart's timer is due, in ns."""

    def read(self) -> int:
        return self.hart.mtimecmp

    def write(self, value: int) -> None:
        hart, clock, due = self.hart, self.hart.clock, value * NS
        hart.mtimecmp = value
        hart.interrupt(TIMER, due <= clock.now)
        if clock.now < due < NEVER:
            rank = clock.rank(hart.core.agent, "Interrupt", 0, hart.core.agent)
            clock.call(due, rank, lambda: self.expire(value))

    def expire(self, value: int) -> None:
        """The timer that was set for then is due, if it has not been set anew."""
        if self.hart.mtimecmp == value:
            self.hart.interrupt(TIMER, True)
