"""I. Interprocessor interrupts and timers: MSIP[h] and mtimecmp[h], each at hart h's core.

An access from another core, and every interrupt, is a message like any other: its latency depends
on the positions of the two harts and on the traffic between them.

Interface: `find` returns the register at an address. If `is_here` is True, `use` accesses it at
once; else `reach` accesses it by a message.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from uncore.engine.reference.access import WAITS_FOR_REGISTER, Access, Done, number
from uncore.program.abi import CONSTANTS

if TYPE_CHECKING:
    from uncore.engine.reference.core import Core
    from uncore.engine.reference.hart import Hart
    from uncore.engine.reference.system import System

MSIP_BASE = CONSTANTS["UC_CLINT_BASE"]
MTIMECMP_BASE = MSIP_BASE + CONSTANTS["UC_CLINT_MTIMECMP"]
SOFTWARE, TIMER = 3, 7  # bits of mip
NEVER = 2**64 - 1
PS_PER_NS = 1000


def find(system: System, address: int) -> Register | None:
    """Returns the register at an address, or None."""
    kinds: tuple[tuple[type[Register], int, int], ...] = (
        (Msip, MSIP_BASE, 4),
        (Mtimecmp, MTIMECMP_BASE, 8),
    )
    for kind, start, size in kinds:
        index = (address - start) // size
        if 0 <= index < len(system.harts):
            return kind(system.harts[index])
    return None


@dataclass(frozen=True)
class Register(ABC):
    """A register of a hart: Msip or Mtimecmp."""

    hart: Hart

    def send_message(
        self, sender: Core, receiver: Core, leaves: int, delay: int, action: Callable[[], None]
    ) -> None:
        """T2.3: sends a message about a register. Its rank has the number of the register's hart in
        place of the line.
        """
        clock = sender.clock
        rank = clock.rank(receiver.agent, "Interrupt", self.hart.id, sender.agent)
        arrived = lambda time: clock.call(time + delay, rank, action)  # noqa: E731
        fabric = sender.system.fabric
        route = fabric.route(sender.stop(0), receiver.stop(0))
        fabric.send("control", route, leaves, rank, arrived)

    def reach(self, user: Hart, access: Access) -> Done | None:
        """I1: accesses a register by a message. A store occupies the hart for `send`, after which
        its message leaves. A load makes the hart wait for the answer.
        """
        if access.kind == "read":
            self.read_far(user)
            return None
        send = user.core.time_at_share(user, user.system.machine.interrupt.send)
        write_register = lambda: self.write(number(access.value))  # noqa: E731
        self.deliver(user.core, user.clock.now + send, write_register)
        return 0, send

    def deliver(self, sender: Core, leaves: int, action: Callable[[], None]) -> None:
        """I2: sends a control message to the register's core. It takes effect `accept` after its
        arrival.
        """
        accept = sender.system.machine.interrupt.accept
        self.send_message(sender, self.hart.core, leaves, accept, action)

    def is_here(self, user: Hart, write: bool, value: int) -> bool:
        """I4.1: returns True if `user` can access the register at once: it belongs to the same
        core, and the access is not a write that causes an interrupt, which is always a message
        (I1).
        """
        return self.hart.core is user.core and not (write and self.interrupts(value))

    def use(self, user: Hart, write: bool, value: int) -> int:
        """I4.1: performs an access by a hart of the same core. Returns the value."""
        if write:
            self.write(value)
        return self.read()

    def read_far(self, reader: Hart) -> None:
        """I4.2: reads a register of another core by a control message to it, and after `accept` a
        control message back. The hart waits.
        """
        reader.asked, core = WAITS_FOR_REGISTER, self.hart.core

        def read_and_answer() -> None:
            value = self.read()
            deliver_answer = lambda: reader.answered(value, 0)  # noqa: E731
            self.send_message(core, reader.core, core.clock.now, 0, deliver_answer)

        self.deliver(reader.core, reader.clock.now, read_and_answer)

    def interrupts(self, value: int) -> bool:
        """Returns True if writing this value interrupts the hart."""
        return False

    @abstractmethod
    def read(self) -> int:
        """Returns the present value."""

    @abstractmethod
    def write(self, value: int) -> None:
        """Performs a write now, with its effect on the hart."""


class Msip(Register):
    """The MSIP register, a flag: an interprocessor interrupt is pending."""

    def interrupts(self, value: int) -> bool:
        return bool(value & 1)

    def read(self) -> int:
        return int(self.hart.msip)

    def write(self, value: int) -> None:
        self.hart.msip = bool(value & 1)
        self.hart.interrupt(SOFTWARE, self.hart.msip)


class Mtimecmp(Register):
    """The mtimecmp register: when the hart's timer expires, in ns."""

    def read(self) -> int:
        return self.hart.mtimecmp

    def write(self, value: int) -> None:
        hart, clock, expiry = self.hart, self.hart.clock, value * PS_PER_NS
        hart.mtimecmp = value
        hart.interrupt(TIMER, expiry <= clock.now)
        if clock.now < expiry < NEVER:
            rank = clock.rank(hart.core.agent, "Interrupt", 0, hart.core.agent)
            clock.call(expiry, rank, lambda: self.expire(value))

    def expire(self, value: int) -> None:
        """Called when a timer expires; has no effect if it has been set to another time."""
        if self.hart.mtimecmp == value:
            self.hart.interrupt(TIMER, True)
