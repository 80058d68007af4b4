"""What a guest says to the world beside memory: device registers and semihosting.

Registers are where QEMU's `virt` machine has them: a CLINT (MSIP, mtimecmp, mtime) and the
transmitter of a UART.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from uncore.engine.reference.hart import Hart
from uncore.engine.reference.interrupts import NEVER
from uncore.program.abi import CONSTANTS

if TYPE_CHECKING:
    from uncore.engine.reference.system import System

MSIP = CONSTANTS["UC_CLINT_BASE"]
MTIMECMP = MSIP + CONSTANTS["UC_CLINT_MTIMECMP"]
MTIME = MSIP + CONSTANTS["UC_CLINT_MTIME"]
UART = CONSTANTS["UC_UART_BASE"]
LINE_STATUS, TRANSMITTER_EMPTY = 5, 0x60

# Semihosting calls, as Arm's specification numbers them.
WRITE0, EXIT, EXIT_EXTENDED = 4, 0x18, 0x20
NO_SUCH_CALL = 2**64 - 1


class Devices:
    """The devices of one machine."""

    def __init__(self, system: System) -> None:
        self.system = system
        harts = len(system.job.harts[: system.job.threads[0]])
        self.msip = range(MSIP, MSIP + 4 * harts)
        self.mtimecmp = range(MTIMECMP, MTIMECMP + 8 * harts)
        self.uart = range(UART, UART + 8)
        self.console = bytearray()

    def has(self, address: int) -> bool:
        return (
            address in self.msip
            or address in self.mtimecmp
            or address == MTIME
            or address in self.uart
        )

    def interrupted_by(self, address: int, write: bool, value: int) -> int | None:
        """The hart that this write interrupts."""
        return (address - MSIP) // 4 if write and value & 1 and address in self.msip else None

    def access(self, hart: Hart, address: int, write: bool, value: int) -> int:
        """Reads or writes a register; costs nothing but the instruction."""
        interrupts = self.system.interrupts
        if address in self.msip:
            number = (address - MSIP) // 4
            if write:
                interrupts.clear(number)
            return int(number in interrupts.pending)
        if address in self.mtimecmp:
            number = (address - MTIMECMP) // 8
            if write:
                interrupts.set_timer(number, value)
            return interrupts.timers.get(number, NEVER)
        if address == MTIME:
            return hart.time()
        if write and address == UART:
            self.console.append(value % 256)
        return TRANSMITTER_EMPTY if address == UART + LINE_STATUS else 0

    def semihost(self, hart: Hart) -> None:
        """The call in a0, with its argument in a1."""
        call, argument = hart.isa.argument(0), hart.isa.argument(1)
        self.system.counts.progress = self.system.clock.now
        if call == WRITE0:
            self.console += self._string(argument)
            hart.isa.set_argument(0, 0)
        elif call in (EXIT, EXIT_EXTENDED):
            code = self.system.read(argument + 8, 8) if call == EXIT_EXTENDED else b""
            hart.mode = "stopped"
            self.system.exit(hart, int.from_bytes(code[:4], "little", signed=True))
        else:
            hart.isa.set_argument(0, NO_SUCH_CALL)

    def fatal(self, hart: Hart) -> None:
        """A trap that nobody handles."""
        cause = hart.isa.fatal_cause
        self.system.finish("fatal", f"hart {hart.id} trapped without a handler, cause {cause}")

    def _string(self, address: int) -> bytes:
        """C's: up to a zero."""
        text = bytearray()
        while byte := self.system.read(address, 1):
            if byte == b"\0":
                break
            text += byte
            address += 1
        return bytes(text)
