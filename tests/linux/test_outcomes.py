"""The outcome of a program of Linux follows from its job alone; the system costs what it says."""

from __future__ import annotations

import polars
import pytest
from tests.linux.programs import job, outcome, ran

from uncore.engine import native
from uncore.engine.native import state
from uncore.job import Job
from uncore.result import log

BUCKETS, ROOM, PAGE = (
    (1 << 38) + (1 << 32),
    1 << 32,
    4096,
)  # table of futexes: sim/native/os/kernel_locks.hh

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
    host = native.Host(shares, 2, eager=True)
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
def test_run_saved_within_a_call_continues_alike(program_job: Job, when: int) -> None:
    saved: list[state.State] = []
    whole = state.saving(program_job, when, saved.append)
    assert state.resumed(saved[0], program_job) == whole


def test_a_system_that_costs_nothing_is_quicker() -> None:
    times = [ran("locked", "7", harts=4, system=cost).elapsed_ps for cost in ("machine", "free")]
    assert times[0] > times[1]


def test_a_call_takes_what_the_machine_says() -> None:
    dear = {"os.syscall": "1us"}
    cheap, more = (ran("status", "0", overrides=over).elapsed_ps for over in ({}, dear))
    assert more - cheap == 900_000


@pytest.mark.parametrize("line", ["64B", "256B"])
def test_pages_of_futex_buckets_are_spread_over_the_nodes(line: str) -> None:
    """K9, for any number of buckets on a page. The last resolvers are those of the four nodes."""
    chosen = {"machine": "epyc7601x2", "placement": "0,16,32,48", "overrides": {"line": line}}
    locked = job("locked", "7", harts=4, **chosen)
    table = log.frame(native.run(locked, frozenset({"log"}))["observed"]["log"])
    roots = table["resolver"].max() - 3
    of_buckets = polars.col("line").is_between(BUCKETS, BUCKETS + ROOM - 1)
    page = (polars.col("line") - BUCKETS) // PAGE
    found = table.filter(of_buckets & (polars.col("resolver") >= roots)).select(
        (page % 4).alias("turn"), (polars.col("resolver") - roots).alias("node")
    )
    assert set(found["turn"]) == {0, 1, 2, 3}
    assert found["turn"].to_list() == found["node"].to_list()
