"""Does a remote fence by the firmware reach the harts of its mask, and invalidate only what it
names?
"""

from __future__ import annotations

import struct

import pytest
from tests.engine.test_kernels import (
    LEAF_FLAGS,
    LEAF_TABLE,
    MIDDLE_TABLE,
    NEW_PAGE,
    OLD_PAGE,
    ROOT_TABLE,
    TABLES,
    WORDS,
    entry,
    kernel,
    run,
)

from uncore import boot as system
from uncore.job.placement import place
from uncore.topology import load

PAGE, ASID = 0x40000000, 3
FENCE_I, VMA, VMA_ASID = range(3)
OLD_WORD, NEW_WORD = 0x1111, 0x2222
ALL = 2**64 - 1

# Hart 1 reads a page. Hart 0 maps the page to another address and calls the remote fence. Hart 1
# reads again, and once more after a fence of its own.
REMAP = f"""
    li a0, 1
    la a1, other
    li a2, 0
    call 0x48534D, 0
    await 0, 1
    li t0, {LEAF_TABLE:#x}
    li t1, {entry(NEW_PAGE, LEAF_FLAGS):#x}
    sd t1, (t0)
    fence rw, rw
    li a0, {{mask}}
    li a1, {{base}}
    li a2, {{start}}
    li a3, {{size}}
    li a4, {{asid}}
    call 0x52464E43, {{function}}
    mv s2, a0
    set 1, 1
    await 0, 2
    li t0, WORDS
    sd s2, 256(t0)
    off 0
other:
    li t0, {8 << 60 | ASID << 44 | ROOT_TABLE >> 12:#x}
    csrw satp, t0
    li s6, {PAGE:#x}
    ld s7, (s6)
    set 0, 1
    await 1, 1
    ld s8, (s6)
    sfence.vma
    ld s9, (s6)
    li t0, WORDS
    sd s7, 320(t0)
    sd s8, 384(t0)
    sd s9, 448(t0)
    set 0, 2
1:  wfi
    j 1b
"""


def remap_with_fence(
    *, mask: int = 2, base: int = 0, start: int = PAGE, size: int = 4096, asid: int = 0,
    function: int = VMA,
) -> tuple[int, int]:  # fmt: skip
    """Runs REMAP with these arguments of the remote fence. Returns the call's error, and the value
    that hart 1 reads after the call.
    """
    text = REMAP.format(mask=mask, base=base, start=start, size=size, asid=asid, function=function)
    engine = run(text, TABLES)
    assert engine.exit_code == 0
    error, first, second, last = struct.unpack("<q56xQ56xQ56xQ", engine.read(WORDS + 256, 200))
    assert (first, last) == (OLD_WORD, NEW_WORD)
    return error, second


@pytest.mark.parametrize(
    "call",
    [
        {},
        {"size": 0},
        {"start": 0, "size": 0},
        {"size": ALL},
        {"start": PAGE - 4096, "size": 8192},
        {"start": 0, "size": 65 * 4096},
        {"mask": 0, "base": ALL},
        {"mask": 1, "base": 1},
        {"function": VMA_ASID, "asid": ASID},
        {"function": VMA_ASID, "asid": ASID, "size": 0},
    ],
    ids=str,
)
def test_remote_fence_invalidates_the_translation_of_the_named_page(call: dict[str, int]) -> None:
    assert remap_with_fence(**call) == (0, NEW_WORD)


@pytest.mark.parametrize(
    "call",
    [
        {"start": PAGE + 4096},
        {"start": PAGE - 4096},
        {"mask": 1},
        {"function": VMA_ASID, "asid": ASID + 1},
        {"function": VMA_ASID, "asid": ASID + 1, "size": 0},
        {"function": FENCE_I},
    ],
    ids=str,
)
def test_remote_fence_keeps_translations_that_it_does_not_name(call: dict[str, int]) -> None:
    assert remap_with_fence(**call) == (0, OLD_WORD)


@pytest.mark.parametrize(
    "call",
    [{"mask": 4}, {"mask": 1 << 63}, {"mask": 2, "base": 1}, {"mask": 1, "base": 2}],
    ids=str,
)
def test_mask_with_a_hart_that_does_not_exist_is_refused(call: dict[str, int]) -> None:
    assert remap_with_fence(**call) == (-3, OLD_WORD)  # SBI_ERR_INVALID_PARAM


def test_remote_fences_of_a_hypervisor_are_refused() -> None:
    assert remap_with_fence(function=3) == (-2, OLD_WORD)


# Hart 1 reads a page whose table entry misses. In the meantime hart 0 replaces the table and calls
# the remote fence.
OTHER_TABLE = LEAF_TABLE + 0x1000
OTHER_PAGE = 8  # a page whose entry is not on the line of the first page's entry
REMAP_DURING_WALK = f"""
    li a0, 1
    la a1, other
    li a2, 0
    call 0x48534D, 0
    await 0, 1
    li t0, {MIDDLE_TABLE:#x}
    li t1, {entry(OTHER_TABLE, 1):#x}
    sd t1, (t0)
    fence rw, rw
    li a0, 2
    li a1, 0
    li a2, {PAGE + 4096 * OTHER_PAGE:#x}
    li a3, 4096
    call 0x52464E43, {VMA}
    set 1, 1
    await 0, 2
    off 0
other:
    li t0, {8 << 60 | ROOT_TABLE >> 12:#x}
    csrw satp, t0
    li s6, {PAGE:#x}
    ld s7, (s6)
    li s6, {PAGE + 4096 * OTHER_PAGE:#x}
    set 0, 1
    ld s8, (s6)
    await 1, 1
    ld s9, (s6)
    li t0, WORDS
    sd s9, 256(t0)
    set 0, 2
1:  wfi
    j 1b
"""


def test_page_walk_in_progress_restarts_after_the_fence() -> None:
    pages = {
        LEAF_TABLE + 8 * OTHER_PAGE: entry(OLD_PAGE, LEAF_FLAGS),
        OTHER_TABLE + 8 * OTHER_PAGE: entry(NEW_PAGE, LEAF_FLAGS),
    }
    engine = run(REMAP_DURING_WALK, TABLES | pages, ["memory.latency=10us"])
    assert engine.exit_code == 0
    assert struct.unpack("<Q", engine.read(WORDS + 256, 8)) == (NEW_WORD,)


# Hart 0 sends an IPI through the firmware; the hart that receives it writes its own number.
IPI_TO_ONE_HART = """
    li a0, {target}
    la a1, other
    li a2, 0
    call 0x48534D, 0
    await 0, 1
    li a0, {mask}
    li a1, {base}
    call 0x735049, 0
    await 1, {target}
    off 0
other:
    mv s1, a0
    la t0, taken
    csrw stvec, t0
    li t0, 2
    csrw sie, t0
    csrsi sstatus, 2
    set 0, 1
1:  wfi
    j 1b
.balign 4
taken:
    csrci sip, 2
    li t0, WORDS + 64
    fence rw, rw
    sd s1, (t0)
    sret
"""


@pytest.mark.parametrize("target, mask, base", [(63, 1 << 63, 0), (64, 1 << 63, 1), (64, 1, 64)])
def test_firmware_ipi_reaches_the_last_hart_of_a_mask(target: int, mask: int, base: int) -> None:
    machine = load("ccx:9x8")
    text = kernel(IPI_TO_ONE_HART.format(target=target, mask=mask, base=base))
    booted = system.Boot(machine, place(machine, "compact")[: target + 1], text, memory=16 << 20)
    engine = system.start(booted)
    for _ in range(200):
        if not engine.step(10_000, 10**9):
            break
    assert (engine.end, engine.exit_code) == ("exited", 0)


# Hart 1 executes an instruction. Hart 0 replaces it and calls a remote fence. Hart 1 executes it
# again.
EXCHANGES = """
    li a0, 1
    la a1, other
    li a2, 0
    call 0x48534D, 0
    await 0, 1
    la t0, changed
    li t1, 0x00100B93
    sw t1, (t0)
    fence rw, rw
    li a0, 2
    li a1, 0
    call 0x52464E43, {function}
    set 1, 1
    await 0, 2
    off 0
other:
    li s1, 0
1:  call_it
    bnez s1, 2f
    mv s8, s7
    li s1, 1
    set 0, 1
    await 1, 1
    j 1b
2:  li t0, WORDS
    sd s8, 256(t0)
    sd s7, 320(t0)
    set 0, 2
3:  wfi
    j 3b
.balign 4096
changed:
    .word 0x00000B93
    ret
""".replace("call_it", "jal changed")


def test_remote_fence_i_makes_the_hart_fetch_new_code() -> None:
    engine = run(EXCHANGES.format(function=FENCE_I))
    assert engine.exit_code == 0
    assert struct.unpack("<Q56xQ", engine.read(WORDS + 256, 72)) == (0, 1)


def test_without_remote_fence_i_the_hart_executes_stale_code() -> None:
    engine = run(EXCHANGES.format(function=VMA))
    assert struct.unpack("<Q56xQ", engine.read(WORDS + 256, 72)) == (0, 0)
