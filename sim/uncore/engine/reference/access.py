"""Memory operations of a hart, and their effects on a line's bytes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from uncore.engine.reference.contents import Bytes

Value = int | tuple[int, int]  # a pair: amocas.q
Done = tuple[Value, int]  # the result for the hart, and its cost beyond the instruction
RELEASE, ACQUIRE = 1, 2  # bits of `Access.order` of an atomic
INPUT, OUTPUT, READS, WRITES = 8, 4, 2, 1  # bits of a fence's predecessor and successor sets
WAITS_FOR_REGISTER = -1  # value of Hart.asked while the hart reads another core's register


@dataclass(frozen=True, slots=True)
class Access:
    """One memory operation. `value` is its operand; `expected` is the second operand of a CAS."""

    kind: str  # load store amo cas_pair lr sc fence; read, write: access another core's register
    address: int = 0
    line: int = 0  # number of the line (A2)
    size: int = 0
    value: Value = 0
    operation: str = ""  # for an amo: key of AMO_FUNCTIONS
    expected: Value = 0
    order: int = 0  # an atomic's RELEASE and ACQUIRE, or a fence's predecessors * 16 + successors
    unwanted: bool = False  # an amo without ordering whose result is not used (C8.5)

    @property
    def is_amo(self) -> bool:
        return self.kind in ("amo", "cas_pair")

    @property
    def acquires(self) -> bool:
        return bool(self.order & ACQUIRE)

    @property
    def releases(self) -> bool:
        return bool(self.order & RELEASE)

    @property
    def writes(self) -> bool:
        return self.is_amo or self.kind in ("store", "sc")

    @property
    def is_atomic(self) -> bool:
        """Returns True for an AMO, an LR or an SC."""
        return self.is_amo or self.kind in ("lr", "sc")

    @property
    def drains(self) -> bool:
        """Returns True if the access waits until its hart's store buffer is empty."""
        return self.kind not in ("load", "store")

    @property
    def orders_write_before_read(self) -> bool:
        """Returns True for a fence that waits for stores (H4)."""
        predecessors, successors = self.order >> 4, self.order & 15
        return bool(predecessors & (OUTPUT | WRITES) and successors & (INPUT | READS))

    def overlaps(self, other: Access) -> bool:
        return (
            self.address < other.address + other.size and other.address < self.address + self.size
        )

    def covers(self, other: Access) -> bool:
        end = self.address + self.size
        return self.address <= other.address and other.address + other.size <= end

    def apply(self, line: Bytes) -> Value:
        """Performs the operation on a line's bytes. Returns the value for the hart."""
        if self.kind == "cas_pair":
            return self._exchange_pair(line)
        if self.kind in ("store", "sc"):
            line.write(self.address, self.size, number(self.value))
            return 0
        old = line.read(self.address, self.size)
        if self.kind == "amo":
            new = AMO_FUNCTIONS[self.operation](old, *self._operands(), self.size)
            line.write(self.address, self.size, new)
        return old

    def _operands(self) -> tuple[int, int]:
        low = (1 << 8 * self.size) - 1
        return number(self.value) & low, number(self.expected) & low

    def _exchange_pair(self, line: Bytes) -> Value:
        old = line.read(self.address, 8), line.read(self.address + 8, 8)
        if old == self.expected and isinstance(self.value, tuple):
            for address, word in zip((self.address, self.address + 8), self.value, strict=True):
                line.write(address, 8, word)
        return old


def number(value: Value) -> int:
    assert isinstance(value, int)
    return value


def _signed(value: int, size: int) -> int:
    return value - (1 << 8 * size) if value >> (8 * size - 1) else value


# for each AMO, the function (old, operand, expected, size) -> new value; all values are unsigned
AMO_FUNCTIONS: dict[str, Callable[[int, int, int, int], int]] = {
    "swap": lambda old, operand, expected, size: operand,
    "add": lambda old, operand, expected, size: old + operand,
    "xor": lambda old, operand, expected, size: old ^ operand,
    "and": lambda old, operand, expected, size: old & operand,
    "or": lambda old, operand, expected, size: old | operand,
    "min": lambda old, operand, expected, size: min(old, operand, key=lambda v: _signed(v, size)),
    "max": lambda old, operand, expected, size: max(old, operand, key=lambda v: _signed(v, size)),
    "minu": lambda old, operand, expected, size: min(old, operand),
    "maxu": lambda old, operand, expected, size: max(old, operand),
    "cas": lambda old, operand, expected, size: operand if old == expected else old,
}
