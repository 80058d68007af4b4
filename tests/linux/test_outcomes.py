"""Does the outcome of a Linux program depend only on its job, and do system calls take time?"""

from __future__ import annotations

import polars
import pytest
from tests.linux.programs import job, outcome, run_guest

from uncore.engine import native
from uncore.engine.native import state
from uncore.job import Job
from uncore.result import log

# Address and size of the table of futex buckets, from sim/native/os/kernel_locks.hh.
BUCKETS, BUCKETS_SIZE, PAGE = (1 << 38) + (1 << 32), 1 << 32, 4096

JOBS = [
    job("locked", "7", harts=4),
    job("locked", "7", harts=8, machine="mesh:4x2"),
    job("yields", "5", harts=2),
    job("barriers", harts=4, system="free"),
    job("events_wait", harts=2),
    job("process_signals", harts=2),
    job("pool", guest="waits", harts=4),
    job("timers", guest="waits", harts=2),
    job("mapped_by_all", guest="files", harts=4),
    job("appended", guest="files", harts=4),
]


@pytest.mark.parametrize("program_job", JOBS, ids=str)
def test_outcome_does_not_depend_on_lookahead(program_job: Job) -> None:
    expected = outcome(program_job)
    assert expected == outcome(program_job, lookahead=1) == outcome(program_job, sleep=False)


@pytest.mark.parametrize("shares", [2, 3, 4])
@pytest.mark.parametrize("program_job", JOBS, ids=str)
def test_outcome_does_not_depend_on_cores_of_the_host(program_job: Job, shares: int) -> None:
    nothing: frozenset[str] = frozenset()
    host = native.HostUse(shares, 2, eager=True)
    assert native.run(program_job, nothing) == native.run(program_job, nothing, host=host)


@pytest.mark.parametrize(
    ("program_job", "when"),
    [
        (job("locked", "7", harts=4), 8_000_000),
        (job("events_wait", harts=2), 150_000_000),
        (job("timers", guest="waits", harts=2), 650_000_000),
        (job("mapped_by_all", guest="files", harts=4), 6_000_000),
    ],
    ids=str,
)
def test_run_saved_during_a_call_continues_with_the_same_outcome(
    program_job: Job, when: int
) -> None:
    saved: list[state.State] = []
    uninterrupted = state.run_and_save(program_job, when, saved.append)
    assert state.resume(saved[0], program_job) == uninterrupted


def test_program_is_faster_if_system_calls_take_no_time() -> None:
    times = [
        run_guest("locked", "7", harts=4, system=cost).elapsed_ps for cost in ("machine", "free")
    ]
    assert times[0] > times[1]


def test_system_call_takes_the_time_of_the_machine_file() -> None:
    slow_calls = {"os.syscall": "1us"}
    default_ps, slow_ps = (
        run_guest("status", "0", overrides=over).elapsed_ps for over in ({}, slow_calls)
    )
    assert slow_ps - default_ps == 900_000


@pytest.mark.parametrize("line", ["64B", "256B"])
def test_pages_of_futex_buckets_are_spread_over_the_nodes(line: str) -> None:
    """K9: this holds for any number of buckets per page. The last four resolvers are the nodes'."""
    options = {"machine": "epyc7601x2", "placement": "0,16,32,48", "overrides": {"line": line}}
    locked = job("locked", "7", harts=4, **options)
    table = log.frame(native.run(locked, frozenset({"log"}))["observed"]["log"])
    first_root = table["resolver"].max() - 3
    of_buckets = polars.col("line").is_between(BUCKETS, BUCKETS + BUCKETS_SIZE - 1)
    page = (polars.col("line") - BUCKETS) // PAGE
    messages = table.filter(of_buckets & (polars.col("resolver") >= first_root)).select(
        (page % 4).alias("expected_node"), (polars.col("resolver") - first_root).alias("node")
    )
    assert set(messages["expected_node"]) == {0, 1, 2, 3}
    assert messages["expected_node"].to_list() == messages["node"].to_list()
