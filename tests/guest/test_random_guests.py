"""Does every random guest end or give a message, instead of crashing the simulator?

`python -m tests.tools.guests` runs longer.
"""

from __future__ import annotations

import os
import signal

import pytest
from tests.tools import guests

RUNS = {"calls": 20, "kernel": 20, "elf": 30, "file": 60}


@pytest.mark.parametrize("kind", guests.KINDS)
def test_random_guests_end_or_give_a_message(kind: str) -> None:
    assert guests.run(kind, seed=1, runs=RUNS[kind], seconds=float("inf"))


@pytest.mark.long
@pytest.mark.parametrize("kind", guests.KINDS)
def test_many_random_guests_end_or_give_a_message(kind: str) -> None:
    assert guests.run(kind, seed=1000, runs=0, seconds=guests.TIME_LIMIT_S[True])


def crash(how: str) -> str:
    if how == "a signal":
        os.kill(os.getpid(), signal.SIGKILL)
    if how == "an exit":
        os._exit(7)
    return str([][0])


@pytest.mark.parametrize("how", ["a signal", "an exit", "an exception"])
def test_guest_that_crashes_the_simulator_is_reported_with_its_seed(
    how: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(guests.KINDS, "calls", lambda seed: crash(how) if seed == 13 else "exited")
    assert not guests.run("calls", seed=1, runs=30, seconds=60)
    assert "calls: seed 13: " in capsys.readouterr().out


def test_random_guests_mostly_execute_more_than_a_thousand_instructions() -> None:
    """If most random guests ended at once, the random tests would be useless."""
    for generate in (guests.kernel, guests.program_of_calls):
        counts = [guests.instructions(generate(seed)) for seed in range(1, 11)]
        assert sorted(counts)[5] > 1_000, counts
