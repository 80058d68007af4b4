"""What a guest says to the world beside memory: semihosting, the clock, the console.

Registers are where QEMU's `virt` machine has them: mtime, and the transmitter of a UART.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from uncore.program.abi import CONSTANTS

if TYPE_CHECKING:
    from uncore.engine.reference.hart import Hart
    from uncore.engine.reference.system import System

MTIME = CONSTANTS["UC_CLINT_BASE"] + CONSTANTS["UC_CLINT_MTIME"]
UART = range(CONSTANTS["UC_UART_BASE"], CONSTANTS["UC_UART_BASE"] + 8)
LINE_STATUS, TRANSMITTER_EMPTY = 5, 0x60

# Semihosting calls, as Arm's specification numbers them.
WRITE0, EXIT, EXIT_EXTENDED = 4, 0x18, 0x20
NO_SUCH_CALL = 2**64 - 1


class Devices:
    """The devices of one machine."""

    def __init__(self, system: System) -> None:
        self.system = system
        self.console = bytearray()  # whole lines: harts that write at one time do not mix theirs
        self.lines: dict[int, bytearray] = {}  # by hart, as far as they have come

    def has(self, address: int) -> bool:
        return address == MTIME or address in UART

    def access(self, hart: Hart, address: int, write: bool, value: int) -> int:
        """Reads or writes a register; costs nothing but the instruction."""
        if address == MTIME:
            return hart.time()
        if write and address == UART.start:
            self.say(hart, bytes([value % 256]))
        return TRANSMITTER_EMPTY if address == UART.start + LINE_STATUS else 0

    def semihost(self, hart: Hart) -> None:
        """The call in a0, with its argument in a1."""
        call, argument = hart.isa.argument(0), hart.isa.argument(1)
        self.system.counts.progress = self.system.clock.now
        if call == WRITE0:
            self.say(hart, self._string(argument))
            hart.isa.set_argument(0, 0)
        elif call in (EXIT, EXIT_EXTENDED):
            code = self.system.read(argument + 8, 8)  # of the block: the reason, the code
            status = int.from_bytes(code[:4], "little", signed=True)
            self.system.end_by(hart, "exited", "", status)
        else:
            hart.isa.set_argument(0, NO_SUCH_CALL)

    def say(self, hart: Hart, text: bytes) -> None:
        line = self.lines.setdefault(hart.id, bytearray())
        line += text
        whole = line.rfind(b"\n") + 1
        self.console += line[:whole]
        del line[:whole]

    def said(self) -> str:
        """By the end of the run."""
        rest = (line for _, line in sorted(self.lines.items()))
        return b"".join([self.console, *rest]).decode("latin-1")

    def _string(self, address: int) -> bytes:
        """C's: up to a zero."""
        text = bytearray()
        while (byte := self.system.read(address, 1)) != b"\0":
            text += byte
            address += 1
        return bytes(text)
