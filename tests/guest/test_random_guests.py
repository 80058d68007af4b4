"""Does every random guest end, or give a message?

For longer: `python -m tests.tools.guests`.
"""

from __future__ import annotations

import os
import signal

import pytest
from tests.tools import guests

RUNS = {"calls": 20, "kernel": 20, "elf": 30, "file": 60}


@pytest.mark.parametrize("kind", guests.KINDS)
def test_guests_drawn_at_random_end_or_give_a_message(kind: str) -> None:
    assert guests.run(kind, seed=1, runs=RUNS[kind], seconds=float("inf"))


@pytest.mark.long
@pytest.mark.parametrize("kind", guests.KINDS)
def test_many_guests_drawn_at_random_end_or_give_a_message(kind: str) -> None:
    assert guests.run(kind, seed=1000, runs=0, seconds=guests.TIME_LIMIT_S[True])


def wrong(what: str) -> str:
    if what == "a signal":
        os.kill(os.getpid(), signal.SIGKILL)
    if what == "an exit":
        os._exit(7)
    return str([][0])


@pytest.mark.parametrize("what", ["a signal", "an exit", "an exception"])
def test_a_guest_that_crashes_the_simulator_is_found(
    what: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(guests.KINDS, "calls", lambda seed: wrong(what) if seed == 13 else "exited")
    assert not guests.run("calls", seed=1, runs=30, seconds=60)
    assert "calls: seed 13: " in capsys.readouterr().out


def test_most_guests_get_past_their_first_instructions() -> None:
    """Draws ten kernels and ten programs. If most of them end at once, the generator is useless."""
    for made in (guests.kernel, guests.program_of_calls):
        counts = [guests.instructions(made(seed)) for seed in range(1, 11)]
        assert sorted(counts)[5] > 1_000, counts
