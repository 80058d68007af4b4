"""Does standard error hold the message of a failed run, and nothing else?"""

from __future__ import annotations

import subprocess
import sys

import pytest

ENDS = {
    "finished": ("run bus:4 counter/atomic --cores 1", ""),
    "finished by the reference": ("run bus:2 counter/atomic --cores 1 --engine reference", ""),
    "refused": ("run bus:4 counter/atomic --threads 9", "uncore: --threads 9: "),
    "stopped": (
        "run bus:4 lock/ticket --seed none --cores 1 --max-time 1us",
        "uncore: bus:4 at 1 threads: lock/ticket: --max-time 1us: ",
    ),
    "stopped in a matrix": (
        "matrix bus:2 --max-time 1us",
        "uncore: latency/pingpong: --max-time 1us: ",
    ),
}


@pytest.mark.parametrize("end", ENDS)
def test_standard_error_holds_only_the_message(end: str) -> None:
    arguments, message = ENDS[end]
    command = [sys.executable, "-m", "uncore", *arguments.split()]
    lines = subprocess.run(command, capture_output=True, text=True).stderr.splitlines()
    assert len(lines) == bool(message), lines
    assert all(line.startswith(message) for line in lines)
