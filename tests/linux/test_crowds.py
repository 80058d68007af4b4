"""Does a runnable thread never wait while a hart that may run it is idle (rules K5 to K7)?"""

from __future__ import annotations

from typing import Any

import pytest
from tests.linux.programs import job, run_guest

from uncore.engine import native
from uncore.job import Job

MACHINES = [("graviton2", 16), ("epyc7601x2", 8), ("ccx:2x4", 4)]


def count_vain_waits(crowd: Job) -> tuple[int, native.Run]:
    """Returns the number of events after which a thread waits although a hart that may run it is
    idle, and the finished run.
    """
    run = native.start(crowd, frozenset())
    vain = 0
    while run.step(1):
        vain += run.waits_in_vain
    return vain, run


@pytest.mark.parametrize("switch", ["100ns", "1us", "2us"])
@pytest.mark.parametrize(("machine", "harts"), MACHINES)
@pytest.mark.parametrize("word", ["spinners", "workers"])
def test_woken_thread_does_not_wait_a_time_slice_if_there_is_a_hart_for_each_thread(
    word: str, machine: str, harts: int, switch: str
) -> None:
    options: dict[str, Any] = {"machine": machine, "overrides": {"os.switch": switch}}
    assert run_guest(word, str(harts), guest="crowd", harts=harts, **options).failures == []


@pytest.mark.parametrize("system", ["machine", "free"])
@pytest.mark.parametrize(("word", "threads"), [("spinners", 4), ("workers", 4), ("workers", 7)])
def test_no_thread_waits_while_a_hart_is_idle(word: str, threads: int, system: Any) -> None:
    vain, run = count_vain_waits(job(word, str(threads), guest="crowd", harts=4, system=system))
    assert (vain, run.end) == (0, "exited")


@pytest.mark.parametrize("harts", [2, 4, 8])
@pytest.mark.parametrize("seed", range(4))
def test_no_thread_waits_while_an_allowed_hart_is_idle_with_random_affinities_and_priorities(
    seed: int, harts: int
) -> None:
    """Nine threads change affinities and priorities, yield, and use barriers and time-outs."""
    vain, run = count_vain_waits(job("movers", str(seed), guest="crowd", harts=harts))
    assert (vain, run.end) == (0, "exited")
