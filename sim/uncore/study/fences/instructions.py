"""Weakens memory orders of a compiled Linux program by replacing single instructions.

    read(program) -> ProgramCode            its fences, and the acquire and release bits of its
                                            atomics, in functions of the user's own files
    code.orders, code.compiled(weakened)    the same interface as that of a C program (variants.py)

RISC-V states an order in a FENCE or in two bits of an atomic, whatever the programming language. An
acquire load, for example, is a load followed by `fence r,rw`. Orders in libraries are left out.
Invariant: the new instruction has the length of the old one, so no other instruction moves.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from uncore.errors import UserError
from uncore.program import Program
from uncore.program.elf import Segment
from uncore.program.frames import Frame
from uncore.study.fences.orders import RELAXED, WEAKER
from uncore.support import paths
from uncore.support.output_files import write_whole

_ATOMIC, _FENCE, _OPCODE = 0x2F, 0x0F, 0x7F
_NOP = 0x13
_AQ_SHIFT, _RL_SHIFT = 26, 25
_PREDECESSOR_SHIFT, _SUCCESSOR_SHIFT = 24, 20
_TSO = 8 << 28  # field fm of `fence.tso`
_ORDER_BITS = {RELAXED: 0, "release": 1, "acquire": 2, "acq_rel": 3}
_NAMED_BITS = {bits: name for name, bits in _ORDER_BITS.items()}
_READS, _WRITES = 2, 1
_READS_WRITES = _READS | _WRITES
# Predecessor and successor sets of a fence, and the C memory order that compilers translate to it.
_FENCE_ORDERS = {
    (_READS_WRITES, _READS_WRITES): "seq_cst",
    (_READS, _READS_WRITES): "acquire",
    (_READS_WRITES, _WRITES): "release",
}
_FENCE_SETS = {name: sets for sets, name in _FENCE_ORDERS.items()}
_ATOMICS = {
    0: "amoadd", 1: "amoswap", 2: "lr", 3: "sc", 4: "amoxor", 5: "amocas", 8: "amoor",
    12: "amoand", 16: "amomin", 20: "amomax", 24: "amominu", 28: "amomaxu",
}  # fmt: skip
_WIDTHS = "bhwdq"


class WeakInstruction(NamedTuple):
    """A weaker instruction that replaces another; `order` is its memory order in C."""

    order: str
    word: int


class InstructionOrder(NamedTuple):
    """An instruction with a memory order, and weaker instructions, with the weakest first."""

    address: int
    place: str
    says: str
    weaker: tuple[WeakInstruction, ...]
    column: int = 0  # instructions have no column


@dataclass(frozen=True)
class ProgramCode:
    """A compiled program whose instructions can be replaced."""

    program: Program
    orders: list[InstructionOrder]  # sorted by address

    def compiled(self, weakened: Iterable[tuple[InstructionOrder, WeakInstruction]]) -> Program:
        data = bytearray(self.program.data)
        for order, weakening in weakened:
            segment = _segment(self.program, order.address)
            start = segment.offset + order.address - segment.address
            data[start : start + 4] = weakening.word.to_bytes(4, "little")
        digest = hashlib.sha256(data).hexdigest()[:12]
        path = paths.CACHE / "fences" / digest / f"{self.program.path.stem}.elf"
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, bytes(data))
        return Program(self.program.name, path, bytes(data))


def read(program: Program) -> ProgramCode:
    orders = [
        InstructionOrder(address, f"{frame.place} ({address:#x})", *order)
        for address, word in _instructions(program)
        if (order := _stated_order(word)) and (frame := _user_frame(program, address))
    ]
    if not orders and not program.line_table:
        raise UserError(
            f"{program.path}: has no debug information, which tells its own atomics from those of"
            " its libraries; compile it with -g"
        )
    # The program is sent to workers, so it is copied without its parsed debug tables.
    without_tables = Program(program.name, program.path, program.data)
    return ProgramCode(without_tables, orders)


def _user_frame(program: Program, address: int) -> Frame | None:
    frames = program.frames
    return next((frame for frame in frames.at(address) if frames.users(frame)), None)


def _segment(program: Program, address: int) -> Segment:
    return next(segment for segment in program.segments if address in segment)


def _instructions(program: Program) -> Iterator[tuple[int, int]]:
    """Yields address and word of each four-byte instruction in the program's functions."""
    code = [segment for segment in program.segments if segment.rights & 4]
    covered_end = 0
    for symbol in program.symbols:
        segment = next((s for s in code if symbol.address in s), None)
        if segment is None:
            continue
        address, end = max(symbol.address, covered_end), symbol.address + symbol.size
        covered_end = max(covered_end, end)
        while address + 4 <= end:
            offset = address - segment.address
            word = int.from_bytes(segment.data[offset : offset + 4], "little")
            if word & 3 == 3:
                yield address, word
            address += 4 if word & 3 == 3 else 2


def _stated_order(word: int) -> tuple[str, tuple[WeakInstruction, ...]] | None:
    """Returns an instruction's text and weaker instructions; None if it has no memory order."""
    if word & _OPCODE == _ATOMIC:
        return _atomic_order(word)
    if word & _OPCODE == _FENCE and word >> 12 & 7 == 0:
        return _fence_order(word)
    return None


def _atomic_order(word: int) -> tuple[str, tuple[WeakInstruction, ...]] | None:
    name, width = _ATOMICS.get(word >> 27), word >> 12 & 7
    order = _NAMED_BITS[word >> _RL_SHIFT & 3]
    if not name or width >= len(_WIDTHS) or order == RELAXED:
        return None
    without_order = word & ~(1 << _AQ_SHIFT | 1 << _RL_SHIFT)
    weaker = (
        WeakInstruction(weak, without_order | _ORDER_BITS[weak] << _RL_SHIFT)
        for weak in WEAKER[order]
    )
    return f"{name}.{_WIDTHS[width]} {order}", tuple(weaker)


def _fence_order(word: int) -> tuple[str, tuple[WeakInstruction, ...]] | None:
    """Returns the text of a fence and its weaker instructions.

    Accesses to devices count as memory accesses. Returns None for hints such as PAUSE, which have
    an empty predecessor or successor set.
    """
    predecessors, successors = (
        (word >> shift | word >> shift + 2) & _READS_WRITES
        for shift in (_PREDECESSOR_SHIFT, _SUCCESSOR_SHIFT)
    )
    if not predecessors or not successors:
        return None
    is_tso = word >> 28 == _TSO >> 28
    order = "acq_rel" if is_tso else _FENCE_ORDERS.get((predecessors, successors), "")
    weaker = (WeakInstruction(weak, _fence(weak)) for weak in WEAKER.get(order, (RELAXED,)))
    sets = f"fence {_letters(predecessors)},{_letters(successors)}"
    return f"{sets} {order}".strip(), tuple(weaker)


def _letters(accesses: int) -> str:
    return "r" * bool(accesses & _READS) + "w" * bool(accesses & _WRITES)


def _fence(order: str) -> int:
    if order == RELAXED:
        return _NOP
    predecessors, successors = _FENCE_SETS.get(order, (_READS_WRITES, _READS_WRITES))
    tso = _TSO if order == "acq_rel" else 0
    return tso | predecessors << _PREDECESSOR_SHIFT | successors << _SUCCESSOR_SHIFT | _FENCE
