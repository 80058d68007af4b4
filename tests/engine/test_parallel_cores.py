"""Do several host threads execute cores in parallel while these only hit in their caches?

The tests that the outcome does not depend on it are in test_running_ahead.py and
tests/linux/test_outcomes.py.
"""

from __future__ import annotations

from typing import Any

import pytest
from benchmarks import speed
from tests.support.runs import guest, job

from uncore import program
from uncore.engine import native
from uncore.execution import execute
from uncore.execution.request import make_job
from uncore.job import Job
from uncore.support import paths

NOTHING: frozenset[str] = frozenset()
PRIVATE = program.compile(speed.PROGRAMS / "private.c")


def run_in_parallel(
    job_: Job, host: native.HostUse
) -> tuple[list[dict[str, Any]], tuple[int, int, int]]:
    """Runs a job. Returns its harts and the counts of parallel execution: calls, instructions
    executed in parallel, and the sum over all calls of the instructions of the largest share.
    """
    run = native.start(job_, NOTHING, host)
    while run.step(native.MAX_STEP_EVENTS):
        pass
    return run.harts(), run.work()["parallel"]


@pytest.mark.parametrize("shares", [2, 4])
@pytest.mark.parametrize("machine", ["epyc7601x2", "ccx:16x4"])
def test_cores_with_private_data_are_divided_evenly_among_host_threads(
    machine: str, shares: int
) -> None:
    job_ = job(machine, PRIVATE, 64, rounds=120)
    harts, (_, in_parallel, largest) = run_in_parallel(job_, native.HostUse(shares, 1))
    retired = sum(hart["instructions"] for hart in harts)
    assert in_parallel > 0.75 * retired
    assert largest < 1.25 * in_parallel / shares


def test_only_cores_with_harts_are_divided_among_host_threads() -> None:
    """Compact harts fill a quarter of the machine. Shares contain only cores that have harts."""
    job_ = job("epyc7601x2", PRIVATE, 32, rounds=40)
    _, (calls, in_parallel, largest) = run_in_parallel(job_, native.HostUse(2, 1))
    assert calls > 0
    assert largest < 0.65 * in_parallel


def test_a_contended_lock_seldom_wakes_host_threads() -> None:
    _, (calls, in_parallel, _) = run_in_parallel(
        job("epyc7601x2", "lock/mcs", 128), native.HostUse(2, 1)
    )
    assert calls < 50
    assert in_parallel < 10_000


def test_markers_of_linux_programs_are_counted_once() -> None:
    monitor = paths.WORKLOADS / "programs/lock/objectmonitor.c"
    arguments = ("16", "10", "50", "200")
    job_ = make_job("ccx:4x4", monitor, (16,), arguments=arguments).at(16)
    host = native.HostUse(4, 2, eager=True)
    assert native.run(job_, frozenset({"pace"})) == native.run(job_, frozenset({"pace"}), host=host)


def test_guest_that_changes_its_code_is_executed_by_one_host_thread() -> None:
    """All harts share the decoded instructions, so a hart that drops some of them must execute
    alone.
    """
    host = native.HostUse(2, 2, eager=True)
    changing, unchanging = (
        run_in_parallel(job("ccx:2x4", program, 8), host)
        for program in (guest("made_code"), PRIVATE)
    )
    assert changing[1][1] < 0.05 * sum(hart["instructions"] for hart in changing[0])
    assert unchanging[1][1] > 0.5 * sum(hart["instructions"] for hart in unchanging[0])


@pytest.mark.parametrize("observer", ["log", "lines", "operations", "trace"])
def test_observed_run_uses_one_host_thread(observer: str) -> None:
    run = native.start(
        job("ccx:2x4", PRIVATE, 8), frozenset({observer}), native.HostUse(2, 2, True)
    )
    while run.step(native.MAX_STEP_EVENTS):
        pass
    assert run.work()["parallel"] == (0, 0, 0)


@pytest.mark.parametrize(
    ("points", "cores", "cores_per_point"), [(1, 8, 8), (2, 8, 4), (3, 8, 2), (9, 8, 1)]
)
def test_spare_host_cores_are_divided_among_the_points(
    monkeypatch: pytest.MonkeyPatch, points: int, cores: int, cores_per_point: int
) -> None:
    received: list[int] = []
    monkeypatch.setattr(execute.pool, "finished", lambda run, items, _: map(run, items))

    def run(job: Job, *words: Any) -> dict[str, Any]:
        received.append(words[-1])
        fields = native.run(job, NOTHING)
        return fields | {"absent": {"steady": "too short"}}

    monkeypatch.setattr(execute.engine, "run", run)
    job_ = job("bus:2", "counter/atomic", 1, ops=1, seeds=tuple(range(1, points + 1)))
    execute.execute([job_], cores)
    assert received == [cores_per_point] * points
