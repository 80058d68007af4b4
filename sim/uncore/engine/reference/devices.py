"""Devices of a guest: interrupt registers, the clock, the console, semihosting.

Their registers (mtime, and the transmitter of a UART) have the addresses of QEMU's `virt` machine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from uncore.engine.reference import contents, interrupts, multicast
from uncore.engine.reference.access import Access, Done, Value
from uncore.program.abi import CONSTANTS

if TYPE_CHECKING:
    from uncore.engine.reference.hart import Hart

MTIME_ADDRESS = CONSTANTS["UC_CLINT_BASE"] + CONSTANTS["UC_CLINT_MTIME"]
UART_ADDRESSES = range(CONSTANTS["UC_UART_BASE"], CONSTANTS["UC_UART_BASE"] + 8)
LINE_STATUS = UART_ADDRESSES.start + CONSTANTS["UC_UART_LINE_STATUS"]
TRANSMITTER_EMPTY = CONSTANTS["UC_UART_TRANSMITTER_EMPTY"]

WRITE0 = CONSTANTS["UC_SYS_WRITE0"]
EXIT_CALLS = (CONSTANTS["UC_SYS_EXIT"], CONSTANTS["UC_SYS_EXIT_EXTENDED"])
NO_SUCH_CALL = 2**64 - 1


class Console:
    """The output of the harts, collected line by line, so that the lines of different harts are not
    mixed.
    """

    def __init__(self) -> None:
        self.text = bytearray()
        self.lines: dict[int, bytearray] = {}  # unfinished line of each hart

    def say(self, hart: int, text: bytes) -> None:
        line = self.lines.setdefault(hart, bytearray())
        line += text
        finished_bytes = line.rfind(b"\n") + 1
        self.text += line[:finished_bytes]
        del line[:finished_bytes]

    def said(self) -> str:
        """Returns the output at the end of the run, with unfinished lines."""
        unfinished_lines = (line for _, line in sorted(self.lines.items()))
        return b"".join([self.text, *unfinished_lines]).decode("latin-1")


def has(hart: Hart, address: int) -> bool:
    """Returns True if there is a register at the address."""
    return (
        address == MTIME_ADDRESS
        or address in UART_ADDRESSES
        or _interrupts(hart, address) is not None
    )


def access(hart: Hart, address: int, write: bool, value: int) -> Value | None:
    """Reads or writes a register. An access to another core's register is a message, for which the
    hart waits.
    """
    if address == MTIME_ADDRESS:
        return hart.time()
    if address in UART_ADDRESSES:
        if write and address == UART_ADDRESSES.start:
            hart.system.console.say(hart.id, bytes([value % 256]))
        return TRANSMITTER_EMPTY if address == LINE_STATUS else 0
    register = _interrupts(hart, address)
    assert register is not None
    if register.is_here(hart, write, value):
        return register.use(hart, write, value)
    return hart.issue(Access("write" if write else "read", address, value=value))


def reach(hart: Hart, access: Access) -> Done | None:
    """Accesses the register of another core, when the store buffer is empty (H4)."""
    register = _interrupts(hart, access.address)
    assert isinstance(register, interrupts.Register | multicast.Send)
    return register.reach(hart, access)


def _interrupts(
    hart: Hart, address: int
) -> interrupts.Register | multicast.Word | multicast.Send | None:
    return interrupts.find(hart.system, address) or multicast.find(hart.system, address)


def semihost(hart: Hart) -> None:
    """Performs the semihosting call in a0, with its argument in a1."""
    call, argument = hart.isa.argument(0), hart.isa.argument(1)
    hart.system.counts.progressed(hart.clock.now)
    if call == WRITE0:
        hart.system.console.say(hart.id, _string(hart, argument))
        hart.isa.set_argument(0, 0)
    elif call in EXIT_CALLS:
        # The argument block: a reason, then the exit code.
        code = contents.read(hart.system, argument + 8, 8)
        status = int.from_bytes(code[:4], "little", signed=True)
        hart.system.ending.end_by(hart, "exited", "", status)
    else:
        hart.isa.set_argument(0, NO_SUCH_CALL)


def _string(hart: Hart, address: int) -> bytes:
    """Reads a C string, up to its zero byte."""
    text = bytearray()
    while (byte := contents.read(hart.system, address, 1)) != b"\0":
        text += byte
        address += 1
    return bytes(text)
