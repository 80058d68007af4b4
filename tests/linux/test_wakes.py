"""Does every wait end as on Linux, by the right thread, signal or time?  By exit statuses."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.linux.programs import program, ran
from tests.linux.test_elsewhere import QEMU, on_qemu

SOURCE = Path(__file__).with_name("wakes.c").read_text()
WORDS = re.findall(r'^      {"(\w+)"', SOURCE, re.MULTILINE)
# Elsewhere times are those of a busy host, places are the host's; QEMU 7.2 reads a handler's mask
# from another place than Linux does, and knows no robust lists.
TIMED = {"absolute_times", "alarms_do_not_drift", "handlers_and_futexes", "sleep_tells_its_rest"}
TIMED |= {"time_outs_leave_no_waiter", "first_wakes_first", "wake_op_compares"}
PLACED = {"slices_end_on_idle_harts", "wakes_near", "queues_give_their_last"}
OURS = TIMED | PLACED | {"masks_hold", "locks_of_the_dead"}


@pytest.mark.parametrize("word", WORDS)
def test_a_wait_ends_as_on_linux(word: str) -> None:
    harts = 2 if word == "slices_end_on_idle_harts" else 8
    assert ran(word, harts=harts, guest="wakes").failures == []


@pytest.mark.skipif(QEMU is None, reason="qemu-riscv64 is not installed")
@pytest.mark.parametrize("word", sorted(set(WORDS) - OURS))
def test_qemu_gives_the_same_ending(word: str, tmp_path: Path) -> None:
    assert on_qemu(program("wakes"), tmp_path, word) == ("", [])
