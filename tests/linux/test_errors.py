"""Calls that fail, or nearly, answer as Linux 6.18 does: what it answered is kept in errors.txt."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.linux.programs import program, ran
from tests.linux.test_elsewhere import QEMU, on_qemu

RECORDED = Path(__file__).with_name("errors.txt").read_text()
ANSWERS = dict(re.findall(r"^# (\w+)\n((?:[^#\n].*\n)+)", RECORDED, re.MULTILINE))


@pytest.mark.parametrize("word", ANSWERS)
def test_failed_calls_answer_as_linux_does(word: str) -> None:
    point = ran(word, guest="errors", harts=1)
    assert (point.output or "").lstrip("\n") == ANSWERS[word]
    assert point.failures == []


@pytest.mark.skipif(QEMU is None, reason="qemu-riscv64 is not installed")
@pytest.mark.parametrize(
    "word",
    ["futexes", "nested", "timers", "seals", "holes", "packets", "described", "datagrams", "few"],
)
def test_recorded_answers_are_those_of_this_computers_linux(word: str, tmp_path: Path) -> None:
    """Leaves out the words that make files in /tmp, which would be this computer's."""
    output, failures = on_qemu(program("errors"), tmp_path, word)
    assert (output.lstrip("\n"), failures) == (ANSWERS[word], [])
