"""A compiled program of Linux with some of its memory orders weakened, each by its address.

    read(program) -> ProgramCode            its fences, and the acquire and release bits of its
                                            atomics, in functions of the user's own files
    source.orders, source.compiled(weakenings)      as of a C file (variants.py)

RISC-V states an order in a FENCE or in two bits of an atomic, whatever the language: a load that
acquires is a load and `fence r,rw`.  Orders of libraries are left out.  Invariant: a weakened
instruction is as long as it was, so nothing else of the program changes.
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
_AQ_AT, _RL_AT = 26, 25
_PREDECESSOR_AT, _SUCCESSOR_AT = 24, 20
_TSO = 8 << 28  # fm of `fence.tso`
_BITS = {RELAXED: 0, "release": 1, "acquire": 2, "acq_rel": 3}
_NAMED_BITS = {bits: name for name, bits in _BITS.items()}
_READS, _WRITES = 2, 1
_BOTH = _READS | _WRITES
# Sets of a fence, before and behind it, and the order of C that compilers make it of.
_FENCES = {(_BOTH, _BOTH): "seq_cst", (_READS, _BOTH): "acquire", (_BOTH, _WRITES): "release"}
_SETS = {name: sets for sets, name in _FENCES.items()}
_ATOMICS = {
    0: "amoadd", 1: "amoswap", 2: "lr", 3: "sc", 4: "amoxor", 5: "amocas", 8: "amoor",
    12: "amoand", 16: "amomin", 20: "amomax", 24: "amominu", 28: "amomaxu",
}  # fmt: skip
_WIDTHS = "bhwdq"


class WeakInstruction(NamedTuple):
    """An instruction instead of a stronger one; `to`: its order in words of C."""

    to: str
    word: int


class InstructionOrder(NamedTuple):
    """An instruction that states an order, and the weaker ones, the weakest first."""

    address: int
    place: str
    says: str
    weaker: tuple[WeakInstruction, ...]
    column: int = 0  # an instruction has none


@dataclass(frozen=True)
class ProgramCode:
    """A program, of which single instructions are replaced."""

    program: Program
    orders: list[InstructionOrder]  # in the order of addresses

    def compiled(self, weakened: Iterable[tuple[InstructionOrder, WeakInstruction]]) -> Program:
        data = bytearray(self.program.data)
        for order, weakening in weakened:
            segment = _segment(self.program, order.address)
            at = segment.offset + order.address - segment.address
            data[at : at + 4] = weakening.word.to_bytes(4, "little")
        digest = hashlib.sha256(data).hexdigest()[:12]
        path = paths.CACHE / "fences" / digest / f"{self.program.path.stem}.elf"
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, bytes(data))
        return Program(self.program.name, path, bytes(data))


def read(program: Program) -> ProgramCode:
    found = [
        InstructionOrder(address, f"{frame.place} ({address:#x})", *stated)
        for address, word in _instructions(program)
        if (stated := _stated(word)) and (frame := _users(program, address))
    ]
    if not found and not program.line_table:
        raise UserError(
            f"{program.path}: has no debug information, which tells its own atomics from those of"
            " its libraries; compile it with -g"
        )
    plain = Program(program.name, program.path, program.data)  # without tables: workers get it
    return ProgramCode(plain, found)


def _users(program: Program, address: int) -> Frame | None:
    frames = program.frames
    return next((frame for frame in frames.at(address) if frames.users(frame)), None)


def _segment(program: Program, address: int) -> Segment:
    return next(segment for segment in program.segments if address in segment)


def _instructions(program: Program) -> Iterator[tuple[int, int]]:
    """Address and word of the instructions of four bytes in all functions."""
    code = [segment for segment in program.segments if segment.rights & 4]
    seen = 0
    for symbol in program.symbols:
        segment = next((s for s in code if symbol.address in s), None)
        if segment is None:
            continue
        at, end = max(symbol.address, seen), symbol.address + symbol.size
        seen = max(seen, end)
        while at + 4 <= end:
            offset = at - segment.address
            word = int.from_bytes(segment.data[offset : offset + 4], "little")
            if word & 3 == 3:
                yield at, word
            at += 4 if word & 3 == 3 else 2


def _stated(word: int) -> tuple[str, tuple[WeakInstruction, ...]] | None:
    """The instruction in words, with the weaker ones; None where it states no order."""
    if word & _OPCODE == _ATOMIC:
        return _of_atomic(word)
    if word & _OPCODE == _FENCE and word >> 12 & 7 == 0:
        return _of_fence(word)
    return None


def _of_atomic(word: int) -> tuple[str, tuple[WeakInstruction, ...]] | None:
    name, width = _ATOMICS.get(word >> 27), word >> 12 & 7
    order = _NAMED_BITS[word >> _RL_AT & 3]
    if not name or width >= len(_WIDTHS) or order == RELAXED:
        return None
    bare = word & ~(1 << _AQ_AT | 1 << _RL_AT)
    weaker = (WeakInstruction(to, bare | _BITS[to] << _RL_AT) for to in WEAKER[order])
    return f"{name}.{_WIDTHS[width]} {order}", tuple(weaker)


def _of_fence(word: int) -> tuple[str, tuple[WeakInstruction, ...]] | None:
    """A fence's; devices count as memory.  A hint such as PAUSE has an empty set."""
    before, behind = (
        (word >> at | word >> at + 2) & _BOTH for at in (_PREDECESSOR_AT, _SUCCESSOR_AT)
    )
    if not before or not behind:
        return None
    order = "acq_rel" if word >> 28 == _TSO >> 28 else _FENCES.get((before, behind), "")
    weaker = (WeakInstruction(to, _fence(to)) for to in WEAKER.get(order, (RELAXED,)))
    sets = f"fence {_letters(before)},{_letters(behind)}"
    return f"{sets} {order}".strip(), tuple(weaker)


def _letters(accesses: int) -> str:
    return "r" * bool(accesses & _READS) + "w" * bool(accesses & _WRITES)


def _fence(order: str) -> int:
    if order == RELAXED:
        return _NOP
    before, behind = _SETS.get(order, (_BOTH, _BOTH))
    tso = _TSO if order == "acq_rel" else 0
    return tso | before << _PREDECESSOR_AT | behind << _SUCCESSOR_AT | _FENCE
