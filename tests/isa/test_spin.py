"""Does skipping the iterations of a spinning loop give exactly the same result as executing
them?
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.isa import guest

FLAG = 0x80080000

# Hart 0 spins; hart 1 works for a while and then sets the flag. Each entry is the body of the loop
# `wait:`, which ends when the flag is set. s0 has the address of the flag.
LOOPS_WITHOUT_EFFECTS = {
    "load": "ld t0, (s0)\n beqz t0, wait",
    "pause": "pause_\n ld t0, (s0)\n beqz t0, wait",
    "jump": "ld t0, (s0)\n bnez t0, out\n j wait",
    "fence": "fence rw, rw\n ld t0, (s0)\n beqz t0, wait",
    "fence.tso": "fence.tso\n ld t0, (s0)\n beqz t0, wait",
    "call": "jal ra, look\n beqz t0, wait",
    "delay": "li t1, 10\n 1: addi t1, t1, -1\n pause_\n bnez t1, 1b\n ld t0, (s0)\n beqz t0, wait",
    "nest": """li t1, 3
            1: li t2, 5
            2: addi t2, t2, -1
            bnez t2, 2b
            addi t1, t1, -1
            bnez t1, 1b
            ld t0, (s0)
            beqz t0, wait""",
    "two": "ld t0, (s0)\n ld t1, 8(s0)\n and t0, t0, t1\n beqz t0, wait",
    "long": "nop\n" * 50 + "ld t0, (s0)\n beqz t0, wait",
}

# Spinning loops with effects, so that no iteration may be skipped.
LOOPS_WITH_EFFECTS = {
    "count": "addi s5, s5, 1\n ld t0, (s0)\n beqz t0, wait",
    "timeout": "li t2, 100000\n 1: addi t2, t2, -1\n ld t0, (s0)\n bnez t0, out\n bnez t2, 1b",
    "store": "sd x0, 64(s0)\n ld t0, (s0)\n beqz t0, wait",
    "swap": "addi t1, s0, 64\n amoswap.d t2, x0, (t1)\n ld t0, (s0)\n beqz t0, wait",
    "reserve": "lr.d t0, (s0)\n beqz t0, wait",
    "clock": "csrr x0, time\n ld t0, (s0)\n beqz t0, wait",
    "scratch": "csrw mscratch, x0\n ld t0, (s0)\n beqz t0, wait",
    "device": "li t1, 0x0200bff8\n ld x0, (t1)\n ld t0, (s0)\n beqz t0, wait",
    "marker": "sltiu x0, s0, 7\n ld t0, (s0)\n beqz t0, wait",
    "code": "fence.i\n ld t0, (s0)\n beqz t0, wait",
    "trap": "ecall\n ld t0, (s0)\n beqz t0, wait",
}

PROGRAM = """
    la t0, skip
    csrw mtvec, t0
    li s0, {flag}
    csrr t0, mhartid
    bnez t0, work
wait:
    {wait}
out:
    rdinstret s1
    rdcycle s2
    exit 0
look:
    ld t0, (s0)
    ret
.balign 4
skip:
    csrr t6, mepc
    addi t6, t6, 4
    csrw mepc, t6
    mret
work:
    li t0, {turns}
1:  addi t0, t0, -1
    bnez t0, 1b
    li t0, 1
    sd t0, 8(s0)
    sd t0, (s0)
1:  j 1b
"""


def outcome(machine: Any) -> dict[str, Any]:
    return {
        "end": machine.run(1_000_000),
        "now": machine.now,
        "harts": [(machine.registers(h), machine.pc(h), machine.counters(h)) for h in (0, 1)],
        "memory": machine.read(FLAG, 128),
        "markers": machine.markers(),
    }


def without_and_with_detection(
    wait: str, folder: Path, **options: Any
) -> Iterator[tuple[dict[str, Any], Any]]:
    """Runs the program without and then with the detection of spinning. Yields the outcome, and how
    often hart 0 was found spinning.
    """
    image = guest.assemble(PROGRAM.format(flag=FLAG, wait=wait, turns=5000), folder)
    for spin in (False, True):
        machine = guest.boot(image, harts=2, spin=spin, **options)
        yield outcome(machine), machine.spins()


@pytest.mark.parametrize("quantum", [1000, 999, 64, 1])
@pytest.mark.parametrize("name", LOOPS_WITHOUT_EFFECTS)
def test_skipped_and_executed_loops_give_equal_clocks_counters_and_registers(
    name: str, quantum: int, tmp_path: Path
) -> None:
    costs = {"mispredict": 13, "pause": 29, "warming": 12}
    (executed, executed_spins), (skipped, (spins, periods)) = without_and_with_detection(
        LOOPS_WITHOUT_EFFECTS[name], tmp_path, quantum=quantum, **costs
    )
    assert executed["end"] == "exit"
    assert executed == skipped
    assert executed_spins == (0, 0)
    assert spins > 0  # a loop of short turns is also found, although it leaves nothing to skip
    assert periods > 0 or quantum < 999


@pytest.mark.parametrize("name", LOOPS_WITHOUT_EFFECTS)
def test_a_spinning_hart_costs_almost_no_host_time(name: str, tmp_path: Path) -> None:
    text = PROGRAM.format(flag=FLAG, wait=LOOPS_WITHOUT_EFFECTS[name], turns=1 << 40)
    machine = guest.machine(text, tmp_path, quantum=1 << 62)
    assert machine.run(1 << 60) == "time"  # would take decades if each iteration were executed
    assert machine.counters()["clock"] >= 1 << 60


@pytest.mark.parametrize("name", LOOPS_WITH_EFFECTS)
def test_a_loop_with_an_effect_is_not_skipped(name: str, tmp_path: Path) -> None:
    (executed, _), (detected, spins) = without_and_with_detection(
        LOOPS_WITH_EFFECTS[name], tmp_path, quantum=3000
    )
    assert executed["end"] == "exit"
    assert executed == detected
    assert spins == (0, 0)


def test_a_loop_whose_loads_are_answered_later_is_not_skipped(tmp_path: Path) -> None:
    text = PROGRAM.format(flag=FLAG, wait=LOOPS_WITHOUT_EFFECTS["load"], turns=1)
    machine = guest.machine(text, tmp_path, quantum=1 << 20, answers="later")
    machine.run(10_000)
    assert machine.spins() == (0, 0)


def test_a_skipped_loop_is_left_after_an_interrupt(tmp_path: Path) -> None:
    """The hart is found spinning in one turn; an interrupt wakes it in the next turn."""
    text = f"""
        la t0, handler
        csrw mtvec, t0
        li s0, {FLAG}
        li t0, 8
        csrw mie, t0
        csrw mstatus, t0
    wait:
        ld t0, (s0)
        beqz t0, wait
        exit 3
    .balign 4
    handler:
        li t0, 1
        sd t0, (s0)
        li t0, 0x02000000
        sw x0, (t0)
        mret"""
    machine = guest.machine(text, tmp_path, quantum=1000)
    assert machine.run(10_000) == "time"
    assert machine.spins()[1] > 0
    machine.interrupt(0, 3, True)
    assert machine.run(10_000) == "exit"
    assert machine.exit_code == 3
