"""Rules K5 to K7: a thread that can run does so at once where a hart that may run it idles."""

from __future__ import annotations

from typing import Any

import pytest
from tests.linux.programs import job, ran

from uncore.engine import native
from uncore.job import Job

MACHINES = [("graviton2", 16), ("epyc7601x2", 8), ("ccx:2x4", 4)]


def vain_waits(crowd: Job) -> tuple[int, native.Run]:
    """Events after which a thread waits while a hart that may run it idles, and the run."""
    run = native.start(crowd, frozenset())
    vain = 0
    while run.step(1):
        vain += run.waits_in_vain
    return vain, run


@pytest.mark.parametrize("switch", ["100ns", "1us", "2us"])
@pytest.mark.parametrize(("machine", "harts"), MACHINES)
@pytest.mark.parametrize("word", ["spinners", "workers"])
def test_no_woken_thread_waits_a_slice_where_each_has_a_hart(
    word: str, machine: str, harts: int, switch: str
) -> None:
    chosen: dict[str, Any] = {"machine": machine, "overrides": {"os.switch": switch}}
    assert ran(word, str(harts), guest="crowd", harts=harts, **chosen).failures == []


@pytest.mark.parametrize("system", ["machine", "free"])
@pytest.mark.parametrize(("word", "threads"), [("spinners", 4), ("workers", 4), ("workers", 7)])
def test_no_thread_waits_while_a_hart_idles(word: str, threads: int, system: Any) -> None:
    vain, run = vain_waits(job(word, str(threads), guest="crowd", harts=4, system=system))
    assert (vain, run.end) == (0, "exited")


@pytest.mark.parametrize("harts", [2, 4, 8])
@pytest.mark.parametrize("seed", range(4))
def test_no_thread_waits_wherever_threads_may_run(seed: int, harts: int) -> None:
    """Affinities, priorities, yields, barriers, time-outs: nine threads on 2 to 8 harts."""
    vain, run = vain_waits(job("movers", str(seed), guest="crowd", harts=harts))
    assert (vain, run.end) == (0, "exited")
