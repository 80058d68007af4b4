"""Random kernels for tests.tools.guests.

    kernel(seed) -> Run     a kernel of four harts that has not started

Each hart executes a list of records. A record has values of registers, and an instruction, which
the hart stores into its own code and executes. After a trap the hart continues with the next
record, without translation, so the effects of a record on satp, interrupts or pages do not prevent
the execution of the others.
"""

from __future__ import annotations

import random
import struct
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.isa import guest

from uncore import boot as system
from uncore.boot.device_tree import APLIC, INTERRUPT_FILES, RAM_BASE
from uncore.boot.images import Kernel
from uncore.job.placement import place
from uncore.topology import load

HARTS, RECORDS = 4, 120
RECORD_BYTES = 128  # bytes of a record, which has a0 to a7, t1 and the instruction
CODE_BYTES = 0x1000  # bytes of code for each hart
# addresses in the image: each hart's position in its list, the lists, and the page table
POSITIONS, LISTS, ROOT_TABLE = RAM_BASE + 0x8000, RAM_BASE + 0x10000, RAM_BASE + 0x80000
IMAGE_BYTES, MEMORY_BYTES = 1 << 20, 16 << 20
UART, CLINT, MULTICAST = 0x10000000, 0x02000000, 0x02100000
PAGE_FLAGS = 0xCF  # flags of a page: valid, read, write, execute, accessed, dirty
EXTENSIONS = (0x10, 0x54494D45, 0x735049, 0x52464E43, 0x52464E43, 0x48534D, 0x4442434E)
SYSTEM_RESET = 0x53525354
CSRS = (
    0x100, 0x104, 0x106, 0x10A, 0x140, 0x141, 0x142, 0x143, 0x144, 0x14D, 0x150, 0x151,
    0x15C, 0xDB0, 0x001, 0x002, 0x003, 0xC00, 0xC01, 0xC02, 0x300, 0x304, 0x344, 0x320, 0xB00,
    0xF14,
)  # fmt: skip
SATP = 0x180
A0, A1, T1, T2 = 10, 11, 6, 7
ECALL, EBREAK, SRET, MRET, WFI = 0x73, 0x100073, 0x10200073, 0x30200073, 0x10500073

HART = """
.balign {code}
hart{h}:
    la t0, taken{h}
    csrw stvec, t0
next{h}:
    li t0, {at}
    ld s1, (t0)
    li s2, {end}
    bgeu s1, s2, done{h}
    addi s2, s1, {record}
    sd s2, (t0)
    lwu t2, 72(s1)
    la t3, slot{h}
    sw t2, (t3)
    fence.i
    ld a0, (s1)
    ld a1, 8(s1)
    ld a2, 16(s1)
    ld a3, 24(s1)
    ld a4, 32(s1)
    ld a5, 40(s1)
    ld a6, 48(s1)
    ld a7, 56(s1)
    ld t1, 64(s1)
    .balign 64
slot{h}:
    .word 0x13
    j next{h}
    .balign 4
taken{h}:
    csrw satp, zero
    csrw sie, zero
    j hart{h}
done{h}:
    li a0, 0
    li a1, 0
    li a7, {off}
    li a6, 0
    bnez zero, done{h}
    {last}
"""


@cache
def _code() -> bytes:
    """Assembles the code of all harts. At the end of its list, hart 0 switches the machine off."""
    parts = [
        HART.format(
            h=h, code=CODE_BYTES, at=POSITIONS + 64 * h, end=_list(h) + RECORDS * RECORD_BYTES,
            record=RECORD_BYTES, off=SYSTEM_RESET,
            last="ecall" if h == 0 else "1: wfi\n    j 1b",
        )
        for h in range(HARTS)
    ]  # fmt: skip
    with TemporaryDirectory() as folder:
        return guest.assemble("".join(parts), Path(folder)).text


def _list(hart: int) -> int:
    return LISTS + hart * RECORDS * RECORD_BYTES


def _value(rng: random.Random) -> int:
    """Draws a value that may be used as an address, a size, a mask or a number."""
    small, bit = rng.randrange(64), 1 << rng.randrange(64)
    pool = (
        0, small, small, bit, bit - 1, 2**64 - 1 - small, rng.getrandbits(64),
        RAM_BASE + small, RAM_BASE + MEMORY_BYTES - small, RAM_BASE + (1 << 30) - small,
        ROOT_TABLE + 8 * small,
        RAM_BASE + rng.randrange(HARTS) * CODE_BYTES, POSITIONS + 64 * small,
        INTERRUPT_FILES + small * 0x1000, UART + small % 8,
        APLIC + rng.choice((0, 4, 0x1BC0, 0x1C00, 0x1D00, 0x1E00, 0x1F00, 0x2000, 0x3004)),
        CLINT + 4 * small, CLINT + 0x4000 + 8 * small, CLINT + 0xBFF8, MULTICAST + 4 * small,
        small << 12, 0x40000000 + (small << 12),
    )  # fmt: skip
    return rng.choice(pool) % 2**64


def _csr(rng: random.Random, number: int) -> int:
    """Encodes csrrw, csrrs or csrrc of t1, or its form with a five-bit immediate."""
    kind = rng.choice((1, 2, 3, 5, 6, 7))
    return number << 20 | T1 << 15 | kind << 12 | T2 << 7 | 0x73


def _memory(rng: random.Random) -> int:
    """Encodes an access of any size at a0."""
    size = rng.randrange(4)
    atomic = rng.choice((0, 1, 2, 3, 4, 8, 12, 16, 20, 24, 28)) << 27 | rng.randrange(4) << 25
    return rng.choice((
        A0 << 15 | rng.randrange(7) << 12 | T2 << 7 | 0x03,
        T1 << 20 | A0 << 15 | size << 12 | 0x23,
        atomic | T1 << 20 | A0 << 15 | rng.choice((2, 3)) << 12 | T2 << 7 | 0x2F,
        A1 << 20 | A0 << 15 | 0x09 << 25 | 0x73,  # sfence.vma
        A0 << 15 | T2 << 7 | 0x67,  # jalr
    ))  # fmt: skip


def _record(rng: random.Random) -> bytes:
    registers = [_value(rng) for _ in range(9)]
    match rng.randrange(20):
        case n if n < 8:
            instruction = ECALL
            registers[7] = rng.choice((*EXTENSIONS, _value(rng)))
            registers[6] = rng.choice((0, 1, 2, 3, _value(rng)))
        case n if n < 12:
            instruction = _csr(rng, rng.choice((*CSRS, rng.randrange(1 << 12))))
        case 12:
            instruction = _csr(rng, SATP)
            registers[8] = rng.choice(
                (8 << 60 | ROOT_TABLE >> 12, 8 << 60 | ROOT_TABLE >> 12, registers[8])
            )
            registers[8] |= rng.randrange(4) << 44
        case n if n < 18:
            instruction = _memory(rng)
        case 18:
            instruction = rng.choice((EBREAK, SRET, MRET, WFI, 0x100F, 0x0FF0000F))
        case _:
            instruction = rng.getrandbits(32) | 3
    if registers[7] == SYSTEM_RESET:
        registers[7] = 0
    return struct.pack("<9QI", *registers, instruction).ljust(RECORD_BYTES, b"\0")


def _image(seed: int) -> bytes:
    rng = random.Random(seed)
    image = bytearray(_code().ljust(IMAGE_BYTES, b"\0"))
    for hart in range(HARTS):
        records = [_record(rng) for _ in range(RECORDS)]
        if hart == 0:
            for started_hart in range(1, HARTS):
                code_begin = RAM_BASE + started_hart * CODE_BYTES
                start = [started_hart, code_begin, 0, 0, 0, 0, 0, 0x48534D, 0]
                records[started_hart] = struct.pack("<9QI", *start, ECALL).ljust(
                    RECORD_BYTES, b"\0"
                )
        struct.pack_into("<Q", image, POSITIONS - RAM_BASE + 64 * hart, _list(hart))
        begin = _list(hart) - RAM_BASE
        image[begin : begin + RECORDS * RECORD_BYTES] = b"".join(records)
    # nine in ten are mapped to themselves, the others to random addresses
    for gigabyte in range(512):
        target = gigabyte if rng.random() < 0.9 else rng.randrange(512)
        struct.pack_into(
            "<Q", image, ROOT_TABLE - RAM_BASE + 8 * gigabyte, target << 28 | PAGE_FLAGS
        )
    return bytes(image)


def kernel(seed: int) -> Any:
    machine = load("ccx:2x2")
    image = Kernel(_image(seed), 0, IMAGE_BYTES)
    return system.start(system.Boot(machine, place(machine, "compact"), image, memory=MEMORY_BYTES))
