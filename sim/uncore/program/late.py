"""Delays the starts of harts (rule V3) on an engine without such delays: the program itself waits.

    late_starts(program, ticks, clock) -> Image     patches; `ticks` of `clock` for each hart

The marker at which a hart enters the region of interest is replaced by a jump to a loop, which
waits once until the hart's ticks have passed.  The loop replaces the code of `uc_arguments`, which
reads a command line and is never called if the engine sets the number of harts. A hart's ticks are
in the last word of its record's block, which is otherwise unused.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import TYPE_CHECKING

from uncore.errors import UserError
from uncore.program import abi

if TYPE_CHECKING:
    from uncore.program.program import Image, Program

_ZERO, _SP, _TP, _T0, _T1 = 0, 2, 4, 5, 6  # registers
_TICKS_OFFSET = abi.CONSTANTS["UC_BLOCK"] - abi.WORD_BYTES  # offset of the ticks in a hart's block
_CSR = {"UC_CLOCK_TIME": 0xC01, "UC_CLOCK_CYCLE": 0xC00}


def late_starts(program: Program, ticks: Sequence[int], clock: int) -> Image:
    loop_space = program.symbol("uc_arguments")
    csr = next(csr for name, csr in _CSR.items() if abi.CONSTANTS[name] == clock)
    image: Image = []
    loop_address = loop_space.address
    for site, marker in _markers(program):
        loop = _loop(csr, marker, return_address=site + 4, at=loop_address)
        image += [(site, _jump(loop_address - site)), (loop_address, loop)]
        loop_address += len(loop)
    if not image or loop_address > loop_space.address + loop_space.size:
        raise UserError(
            f"{program.name}: {len(image) // 2} places enter the region of interest: an outside"
            " simulator can let harts start late where uc_roi() of uncore.h alone does; write"
            " --seed none"
        )
    blocks = program.symbol("uc_record").address + _TICKS_OFFSET
    block_bytes = abi.CONSTANTS["UC_BLOCK"]
    return image + [
        (blocks + hart * block_bytes, abi.pack(late)) for hart, late in enumerate(ticks)
    ]


def _markers(program: Program) -> list[tuple[int, bytes]]:
    """Returns the addresses of all instructions `sltiu x0, rs1, UC_MARK_ROI_ON`, with their bytes.

    Every even address is tried, because instructions may have two bytes; only a constant inside a
    function could be mistaken for a marker.
    """
    markers = []
    text = next(segment for segment in program.segments if program.entry in segment)
    for at in range(0, len(text.data) - 3, 2):
        (word,) = struct.unpack_from("<I", text.data, at)
        if word & ~(31 << 15) == _immediate(0x13, 3, _ZERO, _ZERO, abi.CONSTANTS["UC_MARK_ROI_ON"]):
            markers.append((text.address + at, text.data[at : at + 4]))
    return markers


def _loop(csr: int, marker: bytes, return_address: int, at: int) -> bytes:
    """Returns code that waits, executes the marker and jumps back, without changing registers."""
    words = [
        _immediate(0x13, 0, _SP, _SP, -16),  # addi sp, sp, -16
        _store(_T0, _SP, 0),
        _store(_T1, _SP, 8),
        _load(_T0, _TP, _TICKS_OFFSET),
        _branch(0, _T0, _ZERO, 20),  # beqz: this hart has started before
        _store(_ZERO, _TP, _TICKS_OFFSET),
        _immediate(0x73, 2, _T1, _ZERO, csr),  # rdtime, rdcycle
        0x33 | _T0 << 7 | _T0 << 15 | _T1 << 20,  # add t0, t0, t1
        _immediate(0x73, 2, _T1, _ZERO, csr),
        _branch(6, _T1, _T0, -4),  # bltu
        _load(_T0, _SP, 0),
        _load(_T1, _SP, 8),
        _immediate(0x13, 0, _SP, _SP, 16),
    ]
    code = struct.pack(f"<{len(words)}I", *words) + marker
    return code + _jump(return_address - (at + len(code)))


# ---- RV64I's formats (The RISC-V Instruction Set Manual, volume I, chapter 2)


def _immediate(opcode: int, funct3: int, destination: int, source: int, number: int) -> int:
    return opcode | destination << 7 | funct3 << 12 | source << 15 | (number & 0xFFF) << 20


def _load(destination: int, base: int, offset: int) -> int:
    return _immediate(0x03, 3, destination, base, offset)


def _store(source: int, base: int, offset: int) -> int:
    return 0x23 | (offset & 31) << 7 | 3 << 12 | base << 15 | source << 20 | (offset >> 5) << 25


def _branch(funct3: int, a: int, b: int, displacement: int) -> int:
    split = (
        (displacement >> 11 & 1) << 7
        | (displacement >> 1 & 15) << 8
        | (displacement >> 5 & 63) << 25
        | (displacement >> 12 & 1) << 31
    )
    return 0x63 | funct3 << 12 | a << 15 | b << 20 | split


def _jump(displacement: int) -> bytes:
    split = (
        (displacement >> 12 & 255) << 12
        | (displacement >> 11 & 1) << 20
        | (displacement >> 1 & 1023) << 21
        | (displacement >> 20 & 1) << 31
    )
    return struct.pack("<I", 0x6F | split)
