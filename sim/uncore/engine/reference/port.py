"""The port of a hart: the hart library's interface to memory, devices and time.

Each memory operation returns its value, or None if the value comes later (`isa.resume`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from uncore.engine.reference import contents, devices, locks, preexecution
from uncore.engine.reference.access import Access, Value

if TYPE_CHECKING:
    from uncore.engine.reference.hart import Hart


class Port:
    """The port of one hart."""

    def __init__(self, hart: Hart) -> None:
        self.hart, self.line = hart, hart.system.machine.line

    # ---- memory ----------------------------------------------------------------------------------

    def place(self, address: int) -> tuple[int, int]:
        """Returns the address, and the number of its line."""
        return address, address // self.line

    def load(self, address: int, size: int) -> Value | None:
        return self.hart.issue(Access("load", *self.place(address), size))

    def store(self, address: int, size: int, value: int) -> Value | None:
        return self.hart.issue(Access("store", *self.place(address), size, value))

    def amo(
        self,
        operation: str,
        address: int,
        size: int,
        operand: int,
        expected: int,
        order: int,
        unwanted: bool,
    ) -> Value | None:
        return self.hart.issue(
            Access("amo", *self.place(address), size, operand, operation, expected, order, unwanted)
        )

    def cas_pair(
        self, address: int, operand: tuple[int, int], expected: tuple[int, int], order: int
    ) -> Value | None:
        return self.hart.issue(
            Access("cas_pair", *self.place(address), 16, operand, expected=expected, order=order)
        )

    def lr(self, address: int, size: int, order: int) -> Value | None:
        return self.hart.issue(Access("lr", *self.place(address), size, order=order))

    def sc(self, address: int, size: int, value: int, order: int) -> Value | None:
        return self.hart.issue(Access("sc", *self.place(address), size, value, order=order))

    def fetch(self, address: int, size: int) -> bytes:
        """H1.4: reads code functionally, without time."""
        return contents.read(self.hart.system, address, size)

    def fence(self, predecessor: int, successor: int) -> Value | None:
        """H4: executes a fence. Under TSO stores become visible in order, so a fence waits only if
        it orders a write before a read.
        """
        fence = Access("fence", order=predecessor << 4 | successor)
        if not fence.orders_write_before_read and not self.hart.weak:
            return 0
        return self.hart.issue(fence)

    def foresee(self, address: int, size: int, count: int) -> int | bool | None:
        """H9: returns the value of a load that follows a waiting load, as preexecution.foresee
        does.
        """
        return preexecution.foresee(self.hart, address, size, count)

    # ---- devices ---------------------------------------------------------------------------------

    def has_device(self, address: int) -> bool:
        return devices.has(self.hart, address)

    def device(self, address: int, write: bool, value: int) -> Value | None:
        return devices.access(self.hart, address, write, value)

    def time(self) -> int:
        return self.hart.time()

    def cycle(self) -> int:
        return int(self.hart.isa.clock) // max(1, self.hart.core.costs.instruction)

    # ---- events in the hart ----------------------------------------------------------------------

    def marker(self, code: int, value: int) -> None:
        self.hart.marker(code, value)

    def reserves_line(self) -> bool:
        """C7.1: returns True if the hart has a reservation, for whose loss a wrs can wait."""
        return self.hart.reservation is not None

    def gave_up_attempt(self) -> None:
        """Called when a branch skips the SC (C6.2)."""
        locks.unlock(self.hart)

    def trapped(self, interrupt: bool) -> None:
        self.hart.enter_trap(interrupt)

    def returned(self) -> None:
        self.hart.leave_trap()
