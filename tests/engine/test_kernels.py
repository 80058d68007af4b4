"""Does the firmware serve kernels in supervisor mode as section P of the model says?"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from tests.isa import guest

from uncore import boot as system
from uncore.boot.images import Kernel
from uncore.errors import UserError
from uncore.job.placement import place
from uncore.topology import load

ROOT_TABLE, MIDDLE_TABLE, LEAF_TABLE = 0x80040000, 0x80041000, 0x80042000
OLD_PAGE, NEW_PAGE = 0x80050000, 0x80060000
WORDS = 0x80070000  # address of the kernels' data words; each has a cache line of its own
LEAF_FLAGS = 0xCF  # flags of a leaf entry: valid, read, write, execute, accessed, dirty


def entry(address: int, flags: int) -> int:
    return address >> 12 << 10 | flags


CALLS = """
.macro call extension, function
    li a7, \\extension
    li a6, \\function
    ecall
.endm
.macro say text
    la a1, 1f
    li a0, 2f - 1f
    li a2, 0
    call 0x4442434E, 0
    j 2f
1:  .ascii "\\text"
2:  .balign 4
.endm
.macro set number, value
    li t0, WORDS + 64 * \\number
    li t1, \\value
    fence rw, rw
    sd t1, (t0)
.endm
.macro await number, value
    li t0, WORDS + 64 * \\number
    li t1, \\value
9:  ld t2, (t0)
    bne t2, t1, 9b
    fence rw, rw
.endm
.macro off code
    li a0, 0
    li a1, \\code
    call 0x53525354, 0
.endm
"""

# Hart 1 reads a page. Hart 0 maps the page to another address and has hart 1's translation flushed.
SHOOTDOWN = f"""
    mv s0, a1
    li a0, 1
    la a1, other
    li a2, 42
    call 0x48534D, 0
    mv s1, a0
    await 0, 1
    li t0, {LEAF_TABLE:#x}
    li t1, {entry(NEW_PAGE, LEAF_FLAGS):#x}
    sd t1, (t0)
    fence rw, rw
    set 1, 1
    await 0, 2
    li a0, 2
    li a1, 0
    li a2, 0x40000000
    li a3, 4096
    call 0x52464E43, 1
    set 1, 2
    await 0, 3
    li t0, WORDS
    ld s2, 256(t0)
    ld s3, 320(t0)
    ld s4, 384(t0)
    lwu s5, (s0)
    say "done"
    off 0
other:
    li t0, {8 << 60 | ROOT_TABLE >> 12:#x}
    csrw satp, t0
    li s6, 0x40000000
    ld s7, (s6)
    mv s10, a1
    set 0, 1
    await 1, 1
    ld s8, (s6)
    set 0, 2
    await 1, 2
    ld s9, (s6)
    li t0, WORDS
    sd s7, 256(t0)
    sd s8, 320(t0)
    sd s9, 384(t0)
    set 0, 3
1:  wfi
    j 1b
"""
TABLES = {
    ROOT_TABLE + 8 * 2: entry(0x80000000, LEAF_FLAGS),
    ROOT_TABLE + 8: entry(MIDDLE_TABLE, 1),
    MIDDLE_TABLE: entry(LEAF_TABLE, 1),
    LEAF_TABLE: entry(OLD_PAGE, LEAF_FLAGS),
    OLD_PAGE: 0x1111,
    NEW_PAGE: 0x2222,
}

# Each hart wakes the other from wfi; a timer wakes hart 0.
INTERRUPTS = """
    la t0, taken
    csrw stvec, t0
    li t0, 0x22
    csrw sie, t0
    csrsi sstatus, 2
    li a0, 1
    la a1, other
    li a2, 0
    call 0x48534D, 0
1:  wfi
    beqz s1, 1b
    rdtime s4
    li t0, 5000
    add t0, t0, s4
    csrw 0x14D, t0
1:  wfi
    beqz s2, 1b
    rdtime s5
    off 0
other:
    li a0, 1
    li a1, 0
    call 0x735049, 0
1:  wfi
    j 1b
.balign 4
taken:
    csrr s3, scause
    andi s3, s3, 0xff
    li t5, 5
    beq s3, t5, 2f
    csrci sip, 2
    addi s1, s1, 1
    sret
2:  li t5, -1
    csrw 0x14D, t5
    addi s2, s2, 1
    sret
"""

# The program reads the counters and executes ecall, which traps with cause 8. A counter that it may
# not read would trap with cause 2 instead.
PROGRAM = """
    la t0, called
    csrw stvec, t0
    la t0, program
    csrw sepc, t0
    sret
.balign 4
called:
    csrr s1, scause
    li t0, WORDS
    sd s1, (t0)
    off 0
program:
    rdcycle s2
    rdtime s3
    rdinstret s4
    ecall
"""


@cache
def kernel(text: str) -> Kernel:
    with TemporaryDirectory() as folder:
        image = guest.assemble(f".set WORDS, {WORDS:#x}\n{CALLS}{text}", Path(folder))
    return Kernel(image.text, 0, 2 << 20)


def boot(text: str, settings: Sequence[str] = (), **options: Any) -> system.Boot:
    """Returns the boot of a kernel of two harts that consists of this assembly text."""
    machine = load("ccx:1x2", settings)
    return system.Boot(machine, place(machine, "compact"), kernel(text), memory=16 << 20, **options)


def run(
    text: str,
    memory: dict[int, int] | None = None,
    settings: Sequence[str] = (),
    **options: Any,
) -> Any:
    """Runs a kernel to its end. `memory` maps addresses to doublewords that replace those of its
    image.
    """
    plain_boot = boot(text, settings)
    data = bytearray(plain_boot.kernel.data.ljust(1 << 20, b"\0"))
    for address, value in (memory or {}).items():
        struct.pack_into("<Q", data, address - 0x80000000, value)
    image = Kernel(bytes(data), 0, plain_boot.kernel.size)
    engine = system.start(
        system.Boot(plain_boot.machine, plain_boot.harts, image, memory=16 << 20), **options
    )
    for _ in range(1000):
        if not engine.step(10_000, 10**9):
            return engine
    raise AssertionError(engine.harts())


EXECUTION_MODES = ({}, {"lookahead": 0}, {"sleep": False})


@pytest.mark.parametrize("mode", EXECUTION_MODES)
def test_remote_fence_invalidates_a_translation(mode: dict[str, Any]) -> None:
    engine = run(SHOOTDOWN, TABLES, **mode)
    assert (engine.end, engine.exit_code, engine.console) == ("exited", 0, "done")
    words = struct.unpack("<Q56xQ56xQ", engine.read(WORDS + 256, 136))
    assert words == (0x1111, 0x1111, 0x2222)


def test_kernel_outcome_is_the_same_without_lookahead_or_sleeping() -> None:
    ends = [run(SHOOTDOWN, TABLES, **mode) for mode in EXECUTION_MODES]
    counts = [[(h["clock"], h["instructions"]) for h in engine.harts()] for engine in ends]
    assert counts[0] == counts[1] == counts[2]


@pytest.mark.parametrize("mode", EXECUTION_MODES)
def test_ipis_and_timers_wake_harts_from_wfi(mode: dict[str, Any]) -> None:
    engine = run(INTERRUPTS, **mode)
    assert (engine.end, engine.exit_code) == ("exited", 0)


# Hart 0 replaces an instruction on each of several pages. Hart 1 executes each instruction twice:
# at about the time of the replacement, and after the replacement and a fence.i. CODE is the address
# of the first instruction, EXCHANGED their number, and LI_ZERO and LI_ONE encode li s7.
CODE, EXCHANGED, LI_ZERO, LI_ONE = 0x80090000, 32, 0x00000B93, 0x00100B93
EXCHANGES = f"""
    li a0, 1
    la a1, other
    li a2, 0
    call 0x48534D, 0
    li s1, WORDS
    li s2, {CODE:#x}
    li s3, {EXCHANGED}
    li s4, {LI_ONE:#x}
1:  ld t2, (s1)
    bne t2, s3, 1b
    amoswap.w t3, s4, (s2)
    sd s3, 64(s1)
    li t0, 4096
    add s2, s2, t0
    addi s3, s3, -1
    bnez s3, 1b
    await 2, 1
    off 0
other:
    li s1, WORDS
    li s2, {CODE:#x}
    li s3, {EXCHANGED}
    mv s8, zero
    mv s9, zero
1:  sd s3, (s1)
    slli t0, s3, 5
2:  addi t0, t0, -1
    bnez t0, 2b
    jalr s10, 0(s2)
    add s8, s8, s7
3:  ld t2, 64(s1)
    bne t2, s3, 3b
    fence.i
    jalr s10, 0(s2)
    add s9, s9, s7
    li t0, 4096
    add s2, s2, t0
    addi s3, s3, -1
    bnez s3, 1b
    sd s8, 256(s1)
    sd s9, 320(s1)
    set 2, 1
1:  wfi
    j 1b
"""


def test_fence_i_discards_code_decoded_during_a_write() -> None:
    pages = {CODE + 4096 * n: 0x8D02 << 32 | LI_ZERO for n in range(EXCHANGED)}
    engine = run(EXCHANGES, pages)
    assert engine.exit_code == 0
    early, fenced = struct.unpack("<Q56xQ", engine.read(WORDS + 256, 72))
    assert 0 < early < EXCHANGED
    assert fenced == EXCHANGED


PAGES, ROUNDS = 32, 20
READS = f"""
    li t0, {8 << 60 | ROOT_TABLE >> 12:#x}
    csrw satp, t0
    li s0, {ROUNDS}
1:  li s1, 0x40000000
    li s2, {PAGES}
2:  ld s3, (s1)
    li t0, 4096 + 64
    add s1, s1, t0
    addi s2, s2, -1
    bnez s2, 2b
    addi s0, s0, -1
    bnez s0, 1b
    off 0
"""


# Like READS with code: each page contains only a return instruction, which is executed.
EXECUTES = READS.replace("ld s3, (s1)", "jalr s10, 0(s1)").replace("4096 + 64", "4096")
# Reads four pages of data, which fill a first-level TLB, and executes one page of code whose
# translation is flushed before.
READS_AND_EXECUTES = f"""
    li t0, {8 << 60 | ROOT_TABLE >> 12:#x}
    csrw satp, t0
    li s0, {ROUNDS}
    li t0, 4096
1:  li s1, 0x40000000
    .rept 4
    ld s3, (s1)
    add s1, s1, t0
    .endr
    sfence.vma s1
    jalr s10, 0(s1)
    addi s0, s0, -1
    bnez s0, 1b
    off 0
"""
# READS_OF_A_SET reads four pages that fall into one TLB set, with two ways and with four.
# READS_LARGE reads pages of 2 MiB.
READS_OF_A_SET = READS.replace("4096 + 64", "4 * 4096 + 64").replace(f"s2, {PAGES}", "s2, 4")
LARGE_PAGES = 6
READS_LARGE = READS.replace("4096 + 64", "0x200040").replace(f"s2, {PAGES}", f"s2, {LARGE_PAGES}")
READS_LARGE = READS_LARGE.replace("0x40000000", "0x40200000")


def time_with(text: str = READS, **tlb: str) -> int:
    """Returns the time in ps of a kernel that accesses each of its pages several times, with these
    TLBs.
    """
    pages = {LEAF_TABLE + 8 * n: entry(OLD_PAGE + 4096 * n, LEAF_FLAGS) for n in range(PAGES)}
    code = {OLD_PAGE + 4096 * n: 0x8D02 for n in range(PAGES)}  # jr s10
    tables = {
        ROOT_TABLE + 8 * 2: entry(0x80000000, LEAF_FLAGS),
        ROOT_TABLE + 8: entry(MIDDLE_TABLE, 1),
    }
    large = {
        MIDDLE_TABLE + 8 * n: entry(0x80000000 + (n << 21), LEAF_FLAGS)
        for n in range(1, LARGE_PAGES + 1)
    }
    sizes = [f"core.tlb.{name}={value}" for name, value in tlb.items()]
    engine = run(
        text, {**tables, MIDDLE_TABLE: entry(LEAF_TABLE, 1), **large, **pages, **code}, sizes
    )
    assert engine.exit_code == 0
    return int(engine.harts()[0]["clock"])


def test_hit_in_the_second_level_tlb_takes_its_latency() -> None:
    all_hit = time_with(latency="10ns")
    assert time_with(first="16", latency="10ns") - all_hit == PAGES * (ROUNDS - 1) * 10_000


@pytest.mark.parametrize("text", [READS, EXECUTES], ids=["data", "code"])
def test_translation_that_misses_every_tlb_level_costs_a_page_walk(text: str) -> None:
    all_hit, walks = time_with(text), PAGES * (ROUNDS - 1)
    hit = load("ccx:1x2").core.l1_hit
    assert time_with(text, first="16", second="16") - all_hit >= walks * 3 * hit


def test_code_translations_do_not_occupy_the_first_level_tlb() -> None:
    slow, quick = (
        time_with(READS_AND_EXECUTES, first="4", latency=latency) for latency in ("1us", "1ns")
    )
    assert slow == quick


def test_a_tlb_set_holds_as_many_pages_as_it_has_ways() -> None:
    two_ways, four_ways = (
        time_with(READS_OF_A_SET, first="8", second="8", ways=n) for n in ("2", "4")
    )
    assert two_ways - four_ways >= 4 * (ROUNDS - 1) * 3 * load("ccx:1x2").core.l1_hit


def test_large_pages_have_their_own_tlb_entries() -> None:
    four_entries, eight_entries = (time_with(READS_LARGE, first="4", large=n) for n in ("4", "8"))
    assert (
        four_entries - eight_entries >= LARGE_PAGES * (ROUNDS - 1) * 2 * load("ccx:1x2").core.l1_hit
    )


def test_wfi_continues_if_an_interrupt_is_pending() -> None:
    assert run("    csrsi sie, 2\n    csrsi sip, 2\n    wfi\n    off 0\n").end == "exited"


def test_user_programs_may_read_the_counters() -> None:
    assert struct.unpack("<Q", run(PROGRAM).read(WORDS, 8)) == (8,)


def test_exit_status_reports_why_the_kernel_shut_down() -> None:
    assert run("    off 1\n").exit_code == 1


def test_trap_of_a_kernel_without_handler_ends_the_run() -> None:
    engine = run("    li t0, 0\n    ld t0, (t0)\n")
    assert engine.end == "fatal"
    assert "hart 0 trapped without a handler, cause 5" in engine.reason


def test_initrd_that_does_not_fit_is_refused() -> None:
    with pytest.raises(UserError, match="--memory"):
        system.start(boot("    off 0\n", initrd=bytes(16 << 20)))


def test_weakly_ordered_machine_is_refused() -> None:
    booted = boot("    off 0\n")
    weak = load("ccx:1x2", ["core.order=weak"])
    with pytest.raises(UserError, match=r"core\.order=tso"):
        system.start(system.Boot(weak, booted.harts, booted.kernel))


CONSOLE = """
    li a7, 0x4442434E
    li a6, 0
    li a0, {size}
    li a1, {address}
    li a2, 0
    ecall
    li t0, WORDS
    sd a0, 0(t0)
    sd a1, 8(t0)
    off 0
"""


def console_write(address: int, size: int) -> tuple[int, int]:
    """Calls the firmware's console write. Returns the call's error and value."""
    engine = run(CONSOLE.format(address=address, size=size))
    error, value = struct.unpack("<qQ", engine.read(WORDS, 16))
    return error, value


@pytest.mark.parametrize(
    ("address", "size"),
    [
        (0x80000008, 2**64 - 4),  # a range that wraps around past the highest address
        (2**64 - 16, 16),
        (0x7FFFFFFF, 2),
        (0x80000000 + (1 << 40), 8),
    ],
)
def test_console_refuses_addresses_outside_memory(address: int, size: int) -> None:
    assert console_write(address, size) == (-3, 0)


def test_console_write_may_accept_part_of_a_long_text() -> None:
    assert console_write(0x80000000, 8 << 20) == (0, 1 << 16)


# A timer is set, and is set to a later time before it expires.
POSTPONES = """
    la t0, taken
    csrw stvec, t0
    li t0, 0x20
    csrw sie, t0
    csrsi sstatus, 2
    rdtime s4
    li t0, 5000
    add t0, t0, s4
    csrw 0x14D, t0
    li t0, 50000
    add t0, t0, s4
    csrw 0x14D, t0
1:  wfi
    beqz s1, 1b
    sub s5, s5, s4
    li t0, WORDS
    sd s5, (t0)
    off 0
.balign 4
taken:
    rdtime s5
    li s1, 1
    li t5, -1
    csrw 0x14D, t5
    sret
"""


def test_timer_set_to_a_later_time_interrupts_only_then() -> None:
    engine = run(POSTPONES)
    assert engine.exit_code == 0
    (passed,) = struct.unpack("<Q", engine.read(WORDS, 8))
    assert 50_000 <= passed < 52_000  # ns
