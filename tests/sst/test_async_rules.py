"""Are a hart's stores, fences, atomics and traps ordered correctly with a memory that answers
later?

Guests are written in assembly. Each stores its results in the words at `results`.
"""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from tests.isa import guest
from uncore._doubles import DelayedMachine

DELAY, LINK = 5_000, 20_000  # ps
LIMIT = 10**8  # limit in ps, which is longer than any run
PARAMETERS = {
    "ram": 1 << 20,
    "instruction": 500,
    "mispredict": 0,
    "pause": 500,
    "forward": 1_000,
    "lr": 0,
    "amo": 0,
    "stores": 8,
    "send": 1_000,
    "accept": 3_000,
    "entry": 2_000,
    "exit": 1_000,
    "watchdog": 10**9,
}
# Every hart begins with its number in s0 and the address of its own line of results in s1. Hart 0
# ends the run when all harts are done.
PROLOGUE = """
    csrr s0, mhartid
    la s1, results
    slli t0, s0, 6
    add s1, s1, t0
"""
EPILOGUE = """
    fence
    la t0, done
    li t1, 1
    amoadd.d x0, t1, (t0)
    bnez s0, asleep
1:  ld t1, (t0)
    li t2, HARTS
    bne t1, t2, 1b
    exit 0
asleep:
    j asleep
    .balign 64
done: .zero 64
x: .zero 64
y: .zero 64
private: .zero 128
results: .zero 128
"""
# Stores to private words, behind which the hart's next store waits in the buffer.
QUEUED_STORES = """
    la t5, private
    slli t6, s0, 6
    add t5, t5, t6
    sd x0, 0(t5)
    sd x0, 8(t5)
    sd x0, 16(t5)
    sd x0, 24(t5)
"""


def assemble(text: str, folder: Path) -> guest.Image:
    return guest.assemble(text, folder, more=["-Wl,--entry=start"])


def results(text: str, harts: int, folder: Path, **changed: int) -> list[tuple[int, ...]]:
    """Runs a program. Returns eight words of each hart."""
    program = PROLOGUE + text + EPILOGUE
    image = assemble(program.replace("HARTS", str(harts)), folder)
    parameters = [PARAMETERS | {"id": n, "harts": harts} | changed for n in range(harts)]
    machine = DelayedMachine(str(image.path), parameters, [DELAY] * harts, LINK)
    printed = machine.run(LIMIT)
    assert "uncore: exit hart=0 code=0 " in printed, printed
    words = struct.unpack(f"<{8 * harts}Q", machine.read(image.labels["results"], 64 * harts))
    return [words[8 * n : 8 * n + 8] for n in range(harts)]


def store_buffering(fence: str) -> str:
    """Returns a program of two harts. Each writes x or y and then reads the other one."""
    return f"""
    la a0, x
    la a1, y
    beqz s0, 1f
    la a0, y
    la a1, x
1:  {QUEUED_STORES}
    li t1, 1
    sd t1, (a0)
    {fence}
    ld t2, (a1)
    sd t2, (s1)
"""


def test_load_overtakes_stores_in_the_buffer(tmp_path: Path) -> None:
    assert [row[0] for row in results(store_buffering("nop"), 2, tmp_path)] == [0, 0]


@pytest.mark.parametrize("fence", ["fence rw, rw", "fence w, r"])
def test_load_after_a_fence_waits_for_stores(fence: str, tmp_path: Path) -> None:
    assert [r[0] for r in results(store_buffering(fence), 2, tmp_path)] == [1, 1]


def test_load_after_a_fence_that_orders_only_writes_does_not_wait(tmp_path: Path) -> None:
    assert [r[0] for r in results(store_buffering("fence w, w"), 2, tmp_path)] == [0, 0]


def test_load_reads_the_value_of_its_own_buffered_store(tmp_path: Path) -> None:
    """The buffer forwards to a load if one store covers all its bytes. A load that is covered only
    in part waits until this store is visible.
    """
    text = f"""
    la a0, x
    li t1, -1
    sd t1, (a0)
    {QUEUED_STORES}
    li t1, 0x1234
    sd t1, (a0)
    csrr t3, time
    lhu t2, (a0)
    csrr t4, time
    sd t2, (s1)
    sub t4, t4, t3
    sd t4, 8(s1)
    li t1, 7
    sb t1, 7(a0)
    ld t2, (a0)
    sd t2, 16(s1)
"""
    ((covered, duration, partly_covered, *_),) = results(text, 1, tmp_path)
    assert (covered, partly_covered) == (0x1234, 7 << 56 | 0x1234)
    assert duration == (PARAMETERS["forward"] + 2 * PARAMETERS["instruction"]) // 1000


def test_atomic_waits_for_earlier_stores(tmp_path: Path) -> None:
    """A hart that reads the flag also reads the value that was stored before it."""
    text = f"""
    la a0, x
    la a1, y
    li t1, 1
    bnez s0, 2f
    {QUEUED_STORES}
    sd t1, (a0)
    amoswap.d x0, t1, (a1)
    j 3f
2:  ld t2, (a1)
    beqz t2, 2b
    ld t2, (a0)
    sd t2, (s1)
3:
"""
    assert results(text, 2, tmp_path)[1][0] == 1


def test_full_store_buffer_stalls_its_hart(tmp_path: Path) -> None:
    text = f"""
    csrr s2, time
    {QUEUED_STORES}
    csrr s3, time
    sub s3, s3, s2
    sd s3, (s1)
"""
    stalled, free = (results(text, 1, tmp_path, stores=n)[0][0] for n in (1, 8))
    assert free < 2 * DELAY // 1000 < 3 * 2 * DELAY // 1000 <= stalled


AMOS = {"amoadd": 12, "amoswap": 5, "amoxor": 2, "amoand": 5, "amoor": 7, "amomax": 7, "amomin": 5}


@pytest.mark.parametrize("name", AMOS)
def test_amo_returns_old_value_and_writes_new_one(name: str, tmp_path: Path) -> None:
    text = f"""
    la a0, x
    li t1, 7
    sd t1, (a0)
    li t2, 5
    {name}.d t3, t2, (a0)
    ld t4, (a0)
    sd t3, (s1)
    sd t4, 8(s1)
"""
    assert results(text, 1, tmp_path)[0][:2] == (7, AMOS[name])


def test_sc_without_a_reservation_of_its_line_fails(tmp_path: Path) -> None:
    text = """
    la a0, x
    la a1, y
    li t1, 1
    lr.d t2, (a0)
    sc.d t3, t1, (a1)
    sc.d t4, t1, (a0)
    lr.d t2, (a0)
    sc.d t5, t1, (a0)
    sc.d t6, t1, (a0)
    sd t3, 0(s1)
    sd t4, 8(s1)
    sd t5, 16(s1)
    sd t6, 24(s1)
"""
    assert results(text, 1, tmp_path)[0][:4] == (1, 1, 0, 1)


def test_trap_ends_a_reservation(tmp_path: Path) -> None:
    text = """
    la t0, handler
    csrw mtvec, t0
    la a0, x
    li t1, 1
    lr.d t2, (a0)
    ecall
    sc.d t3, t1, (a0)
    sd t3, (s1)
    j 2f
    .balign 4
handler:
    csrr t4, mepc
    addi t4, t4, 4
    csrw mepc, t4
    mret
2:
"""
    assert results(text, 1, tmp_path)[0][0] == 1


SLEEP = """
    li t0, {enabled}
    csrw mie, t0
    csrr s2, time
    {arm}
1:  wfi
    csrr t1, mip
    and t1, t1, t0
    beqz t1, 1b
    csrr s3, time
    sub s3, s3, s2
    sd s3, (s1)
"""


def test_timer_wakes_a_sleeping_hart_when_it_expires(tmp_path: Path) -> None:
    arm = "li a0, 0x02004000\n addi t2, s2, 300\n sd t2, (a0)"
    ((slept, *_),) = results(SLEEP.format(enabled=1 << 7, arm=arm), 1, tmp_path)
    assert 300 <= slept < 310


def test_timer_that_is_set_again_does_not_expire_at_its_earlier_time(tmp_path: Path) -> None:
    times = "".join(f"addi t2, s2, {ns}\n sd t2, (a0)\n" for ns in (100, 300))
    sleep = SLEEP.format(enabled=1 << 7, arm="li a0, 0x02004000\n" + times)
    ((slept, *_),) = results(sleep, 1, tmp_path)
    assert 300 <= slept < 310


def test_ipi_to_the_senders_own_hart_takes_send_plus_accept(tmp_path: Path) -> None:
    arm = "li a0, 0x02000000\n li t2, 1\n sw t2, (a0)"
    ((slept, *_),) = results(SLEEP.format(enabled=1 << 3, arm=arm), 1, tmp_path)
    expected = (PARAMETERS["send"] + PARAMETERS["accept"]) // 1000
    assert expected <= slept < expected + 10


def test_device_register_of_another_hart_is_accessed_by_messages(tmp_path: Path) -> None:
    """Reading a register takes a message to the register's hart and back, and the time to accept
    the message.
    """
    text = """
    bnez s0, 2f
    li a0, 0x02004008
    li t1, 12345
    sd t1, (a0)
    csrr s2, time
    ld t2, (a0)
    csrr s3, time
    sub s3, s3, s2
    sd t2, (s1)
    sd s3, 8(s1)
2:
"""
    value, waited = results(text, 2, tmp_path)[0][:2]
    expected = (2 * LINK + PARAMETERS["accept"]) // 1000
    assert value == 12345 and expected <= waited < expected + 3


def test_trap_without_a_handler_ends_the_run_with_its_cause(tmp_path: Path) -> None:
    image = assemble("    ebreak\n", tmp_path)
    machine = DelayedMachine(str(image.path), [PARAMETERS | {"id": 0, "harts": 1}], [DELAY], LINK)
    assert f"uncore: fatal cause=3 pc={guest.BASE} tval=" in machine.run(LIMIT)
