"""Do atomics behave as the manual says: AMOs of all widths, LR/SC, and compare-and-swap?"""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.isa import guest

WIDTHS = {"b": 1, "h": 2, "w": 4, "d": 8}
OPERANDS = [0, 1, 5, -1, 0x7F, 0x80, 0x7FFF, 0x8000, 0x7FFFFFFF, 1 << 31, (1 << 63) - 1, 1 << 63]
OPERATIONS: dict[str, Callable[[int, int], int]] = {
    "amoswap": lambda old, b: b,
    "amoadd": lambda old, b: old + b,
    "amoxor": lambda old, b: old ^ b,
    "amoand": lambda old, b: old & b,
    "amoor": lambda old, b: old | b,
    "amomin": min,
    "amomax": max,
    "amominu": lambda old, b: min(old, b, key=unsigned),
    "amomaxu": lambda old, b: max(old, b, key=unsigned),
}
DATA = 0x80080000
LOAD_FAULT, STORE_MISALIGNED, STORE_FAULT, ILLEGAL = 5, 6, 7, 2


def unsigned(value: int, size: int = 8) -> int:
    return value % (1 << 8 * size)


def signed(value: int, size: int = 8) -> int:
    half = 1 << 8 * size - 1
    return (value + half) % (2 * half) - half


def results(text: str, count: int, folder: Path) -> list[int]:
    """Runs a program that stores its results at DATA. Returns the results."""
    machine = guest.machine(text, folder)
    assert machine.run(100_000) == "exit", machine.fatal()
    return list(struct.unpack(f"<{count}Q", machine.read(DATA, 8 * count)))


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", OPERATIONS)
def test_an_amo_returns_the_old_value_and_writes_the_new_one(
    name: str, width: str, tmp_path: Path
) -> None:
    size, filler = WIDTHS[width], 0x1122334455667788
    text, expected = f"li s0, {DATA}\n", []
    for old in OPERANDS:
        for operand in OPERANDS:
            text += f"""
                li t0, {filler}
                sd t0, 8(s0)
                li t0, {signed(old)}
                s{width} t0, 8(s0)
                li t1, {signed(operand)}
                addi t2, s0, 8
                {name}.{width} t3, t1, (t2)
                sd t3, 0(s0)
                addi s0, s0, 16"""
            a, b = signed(old, size), signed(operand, size)
            upper = filler >> 8 * size << 8 * size
            expected += [unsigned(a), upper | unsigned(OPERATIONS[name](a, b), size)]
    # `unsigned` may be applied to sign-extended words, because that does not change their unsigned
    # order
    assert results(text + "\nexit 0", len(expected), tmp_path) == expected


CAS = {
    "amocas": """
        .macro cas width old new address
            amocas.\\width \\old, \\new, (\\address)
        .endm""",
    # The same macro with LR and SC. The register of the expected value receives the old value, as
    # with amocas.
    "lr/sc": """
        .macro cas width old new address
        1:  lr.\\width t5, (\\address)
            bne t5, \\old, 2f
            sc.\\width t6, \\new, (\\address)
            bnez t6, 1b
        2:  mv \\old, t5
        .endm""",
}


@pytest.mark.parametrize("width", ["w", "d"])
def test_amocas_behaves_like_compare_and_swap_with_lr_and_sc(width: str, tmp_path: Path) -> None:
    text = f"li s0, {DATA}\n"
    for old in OPERANDS:
        for expected in (old, old + 1, old ^ 1 << 31):
            text += f"""
                li t0, {signed(old)}
                addi t2, s0, 8
                sd t0, (t2)
                li t1, {signed(expected, WIDTHS[width])}
                li t0, 0x123456789abcdef
                cas {width}, t1, t0, t2
                sd t1, 0(s0)
                addi s0, s0, 16"""
    amocas, loop = (results(CAS[kind] + "\n" + text + "\nexit 0", 72, tmp_path) for kind in CAS)
    assert amocas == loop
    swapped = unsigned(0x123456789ABCDEF, WIDTHS[width])
    assert sum(unsigned(new, WIDTHS[width]) == swapped for new in amocas[1::2]) == len(OPERANDS)


@pytest.mark.parametrize("quantum", [1, 7])
@pytest.mark.parametrize("kind", CAS)
def test_compare_and_swap_loops_of_several_harts_lose_no_increment(
    kind: str, quantum: int, tmp_path: Path
) -> None:
    text = (
        CAS[kind]
        + f"""
        li s0, {DATA}
        li s1, 100
    again:
        ld t0, (s0)
    retry:
        mv t1, t0
        addi t2, t0, 1
        cas d, t1, t2, s0
        mv t3, t0
        mv t0, t1
        bne t1, t3, retry
        addi s1, s1, -1
        bnez s1, again
        addi s2, s0, 64
        li t0, 1
        amoadd.d t1, t0, (s2)
        li t0, 3
    1:  bne t1, t0, 1b          # the last of four harts ends the run
        exit 0"""
    )
    machine = guest.machine(text, tmp_path, harts=4, quantum=quantum)
    assert machine.run(1_000_000) == "exit"
    assert machine.read(DATA, 8) == (400).to_bytes(8, "little")


PAIRS = f"""
        li s0, {DATA + 64}
        li t0, 11
        sd t0, 0(s0)
        li t0, 12
        sd t0, 8(s0)
        li s1, {DATA}
        .macro trial low high
            li a0, \\low
            li a1, \\high
            li a2, 21
            li a3, 22
            amocas.q a0, a2, (s0)
            ld a4, 0(s0)
            ld a5, 8(s0)
            sd a0, 0(s1)
            sd a1, 8(s1)
            sd a4, 16(s1)
            sd a5, 24(s1)
            addi s1, s1, 128
        .endm
        trial 11, 13
        trial 11, 12
        trial 11, 12
        li ra, 99               # x0 means a pair of zeros, not x0 and x1
        amocas.q a0, x0, (s0)
        ld a4, 0(s0)
        ld a5, 8(s0)
        sd a4, 0(s1)
        sd a5, 8(s1)
        li a2, 1
        li a3, 1
        amocas.q x0, a2, (s0)
        ld a4, 0(s0)
        ld a5, 8(s0)
        sd a4, 16(s1)
        sd a5, 24(s1)
        sd ra, 32(s1)
        exit 0"""


def test_amocas_q_compares_and_swaps_a_pair(tmp_path: Path) -> None:
    words = results(PAIRS, 64, tmp_path)
    assert words[0:4] == [11, 12, 11, 12]
    assert words[16:20] == [11, 12, 21, 22]
    assert words[32:36] == [21, 22, 21, 22]
    assert words[48:53] == [0, 0, 1, 1, 99]


def test_x0_as_the_expected_value_of_amocas_is_zero_after_a_write_to_x0(tmp_path: Path) -> None:
    text = f"""
        li s0, {DATA}
        li t0, 7
        addi x0, t0, 1
        amocas.d x0, t0, (s0)
        exit 0"""
    assert results(text, 1, tmp_path) == [7]


@pytest.mark.parametrize(
    ("between", "stored"),
    [
        ("", True),
        ("ld t5, (s0)", True),
        ("addi s1, s0, 64", False),  # an SC to a line that is not reserved
        ("sc.d t5, t0, (s0)", False),  # the first SC has used the reservation
        ("ecall", False),  # a trap ends the reservation
    ],
)
def test_a_store_conditional_succeeds_only_with_a_reservation(
    between: str, stored: bool, tmp_path: Path
) -> None:
    text = f"""
        la t0, skip
        csrw mtvec, t0
        li s0, {DATA + 64}
        mv s1, s0
        li t0, 1
        lr.d t1, (s0)
        {between}
        sc.d t2, t0, (s1)
        li s0, {DATA}
        sd t2, (s0)
        exit 0
    .balign 4
    skip:
        csrr t5, mepc
        addi t5, t5, 4
        csrw mepc, t5
        mret"""
    assert results(text, 1, tmp_path) == [0 if stored else 1]


@pytest.mark.parametrize("line", [0, 64])
def test_a_store_by_another_hart_ends_a_reservation_of_the_same_line(
    line: int, tmp_path: Path
) -> None:
    text = f"""
        li s0, {DATA + 64}
        csrr t0, mhartid
        bnez t0, other
        li t1, {DATA}
        lr.d t2, (s0)
    1:  ld t3, (t1)             # wait for the other hart
        beqz t3, 1b
        sc.d t4, x0, (s0)
        sd t4, (t1)
        exit 0
    other:
        li t0, 9
        sd t0, {line}(s0)
        li t1, {DATA}
        sd t0, (t1)
    1:  j 1b"""
    machine = guest.machine(text, tmp_path, harts=2, quantum=5)
    assert machine.run(1000) == "exit"
    assert machine.read(DATA, 1)[0] == (1 if line == 0 else 0)


@pytest.mark.parametrize(
    ("line", "address", "cause"),
    [
        ("amoadd.w t0, t0, (s0)", DATA + 2, STORE_MISALIGNED),
        ("amoadd.h t0, t0, (s0)", DATA + 1, STORE_MISALIGNED),
        ("amocas.q t1, t1, (s0)", DATA + 8, STORE_MISALIGNED),
        ("lr.d t0, (s0)", DATA + 4, 4),
        ("sc.d t0, t0, (s0)", DATA + 4, STORE_MISALIGNED),
        ("amoadd.w t0, t0, (s0)", 0x02000000, STORE_FAULT),  # devices support no atomics
        ("lr.w t0, (s0)", 0x02000000, LOAD_FAULT),
        ("amoadd.d t0, t0, (s0)", 0x90000000, STORE_FAULT),
        (".word 0x2a05432f", DATA, 0),  # amocas.q t1, x0, (a0): rd is an even register
        (".word 0x2a0543af", DATA, ILLEGAL),  # amocas.q t2, ...: rd is an odd register
        (".word 0x2a15432f", DATA, ILLEGAL),
        (".word 0x1000132f", DATA, ILLEGAL),  # lr of a half word, which does not exist
    ],
)
def test_an_atomic_that_cannot_be_performed_traps(
    line: str, address: int, cause: int, tmp_path: Path
) -> None:
    text = f"""
        la t0, trapped
        csrw mtvec, t0
        li s0, {address}
        mv a0, s0
        {line}
        csrw mcause, x0
        .balign 4
    trapped:
        csrr t0, mcause
        li t1, {DATA}
        sd t0, (t1)
        exit 0"""
    assert results(text, 1, tmp_path) == [cause]
