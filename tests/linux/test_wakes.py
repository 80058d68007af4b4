"""Does every wait end as on Linux, by the right thread, signal or time?"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.linux.programs import program, run_guest
from tests.linux.test_elsewhere import QEMU, on_qemu

SOURCE = Path(__file__).with_name("wakes.c").read_text()
WORDS = re.findall(r'^      {"(\w+)"', SOURCE, re.MULTILINE)
# These words are not compared with QEMU: there times depend on the load of the host, and harts are
# those of the host. QEMU 7.2 reads a handler's mask from a wrong place, and has no robust lists.
TIMED = {
    "absolute_times",
    "alarms_do_not_drift",
    "handlers_and_futexes",
    "sleep_returns_remaining_time",
}
TIMED |= {"time_outs_leave_no_waiter", "waiters_wake_in_order", "wake_op_compares"}
PLACED = {
    "slices_end_on_idle_harts",
    "woken_on_last_or_nearest_hart",
    "idle_hart_takes_last_of_longest_queue",
}
SIMULATED_ONLY = TIMED | PLACED | {"handler_mask_blocks_signals", "robust_locks_of_dead_threads"}


@pytest.mark.parametrize("word", WORDS)
def test_each_kind_of_wait_ends_as_on_linux(word: str) -> None:
    harts = 2 if word == "slices_end_on_idle_harts" else 8
    assert run_guest(word, harts=harts, guest="wakes").failures == []


@pytest.mark.skipif(QEMU is None, reason="qemu-riscv64 is not installed")
@pytest.mark.parametrize("word", sorted(set(WORDS) - SIMULATED_ONLY))
def test_each_kind_of_wait_passes_its_check_under_qemu(word: str, tmp_path: Path) -> None:
    assert on_qemu(program("wakes"), tmp_path, word) == ("", [])
