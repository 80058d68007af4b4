"""Do failing system calls give the answers of Linux 6.18, which are on file in errors.txt?"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.linux.programs import program, run_guest
from tests.linux.test_elsewhere import QEMU, on_qemu

RECORDED = Path(__file__).with_name("errors.txt").read_text()
ANSWERS = dict(re.findall(r"^# (\w+)\n((?:[^#\n].*\n)+)", RECORDED, re.MULTILINE))


@pytest.mark.parametrize("word", ANSWERS)
def test_failed_calls_answer_as_linux_does(word: str) -> None:
    point = run_guest(word, guest="errors", harts=1)
    assert (point.output or "").lstrip("\n") == ANSWERS[word]
    assert point.failures == []


@pytest.mark.skipif(QEMU is None, reason="qemu-riscv64 is not installed")
@pytest.mark.parametrize(
    "word",
    ["futexes", "nested", "timers", "seals", "holes", "packets", "described", "datagrams", "few"],
)
def test_recorded_answers_are_those_of_this_computers_linux(word: str, tmp_path: Path) -> None:
    """The words that create files are left out, because they would use this computer's /tmp."""
    output, failures = on_qemu(program("errors"), tmp_path, word)
    assert (output.lstrip("\n"), failures) == (ANSWERS[word], [])
