"""Is an outcome independent of how the engine executes, as the model says?

A core executes ahead until a message could reach it (rule S2), and the engine skips the iterations
of a waiting hart (S1). Every field of the outcome must be the same if cores execute one instruction
at a time or as many as possible, if iterations are executed or skipped, and if host threads execute
one core at a time or several in parallel.
"""

from __future__ import annotations

from typing import Any

import pytest
from tests.support.runs import guest, job

from uncore.engine import native
from uncore.job import Job

# Machines, numbers of threads, and placements: siblings share a core, scattered harts share the
# fabric.
PLACED_JOBS: list[tuple[str, int, dict[str, Any]]] = [
    ("bus", 2, {}),
    ("bus", 8, {}),
    ("ring", 16, {}),
    ("mesh", 3, {"placement": "scatter"}),
    ("mesh", 64, {}),
    ("ccx", 5, {"placement": "scatter"}),
    ("ccx", 32, {}),
    ("core2q9550", 4, {}),
    ("tr1950x", 3, {"placement": "siblings"}),
    ("tr1950x", 32, {"home": "first-touch"}),
    ("x5650x2", 21, {}),
    ("epyc7302x2", 64, {"placement": "siblings"}),
    ("epyc7302x2", 48, {"placement": "scatter", "home": "interleave"}),
    ("ccx", 32, {"seeds": (1,)}),
    ("epyc7302x2", 63, {"placement": "siblings", "seeds": (2,)}),
]
WORKLOADS: dict[str, dict[str, Any]] = {
    "latency/pingpong": {"rounds": 3, "pairs": "one", "a": 0, "b": 1},
    "lock/ticket": {"ops": 4, "think": "7ns", "hold": "5ns"},
    "lock/mcs": {"ops": 4, "think": "7ns", "hold": "20ns"},
    "counter/atomic": {"ops": 10},
    "refcount/atomic": {"ops": 5, "think": "15ns"},
    "epoch/ebr": {"ops": 5, "updates": 10, "think": "33ns", "hold": "100ns"},
    "ipi/pingpong": {"rounds": 3, "pairs": "one", "a": 0, "b": 1},
    "ipi/broadcast": {"rounds": 3, "overrides": {"interrupt.multicast": "yes"}},
}
EXECUTION_MODES: dict[str, dict[str, Any]] = {
    "again": {},
    "one instruction at a time": {"lookahead": 0},
    "a few at a time": {"lookahead": 3000},
    "without sleep": {"sleep": False},
    "one at a time, without sleep": {"sleep": False, "lookahead": 0},
    "two cores of the host": {"host": native.HostUse(2, 2, eager=True)},
    "three shares on two": {"host": native.HostUse(3, 2, eager=True), "sleep": False},
}


@pytest.mark.parametrize("workload", WORKLOADS)
@pytest.mark.parametrize(
    ("machine", "threads", "options"), PLACED_JOBS, ids=[f"{m}-{n}" for m, n, _ in PLACED_JOBS]
)
def test_outcome_is_the_same_in_every_execution_mode(
    machine: str, threads: int, options: dict[str, Any], workload: str
) -> None:
    check_equal_in_every_mode(job(machine, workload, threads, **WORKLOADS[workload] | options))


@pytest.mark.parametrize("machine", ["x8275clx2", "tr1950x", "power9x2"])
def test_no_core_executes_ahead_of_a_timer_of_its_harts(machine: str) -> None:
    """Siblings sleep until their timers expire while others execute atomics. A hart that wakes
    takes its share of the core.
    """
    check_equal_in_every_mode(job(machine, guest("operations"), 6, placement="siblings", ops=24))


@pytest.mark.parametrize("away", [100, 2000])
@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize(
    ("machine", "threads", "placement"),
    [
        ("mesh", 2, "compact"),
        ("mesh", 3, "compact"),
        ("epyc7601x2", 2, "siblings"),
        ("epyc7601x2", 6, "siblings"),
        ("epyc7601x2", 3, "scatter"),
        ("x8275clx2", 4, "siblings"),
        ("power9x2", 4, "siblings"),
        ("power9x2", 5, "scatter"),
    ],
)
def test_outcome_is_the_same_if_iterations_of_a_cas_loop_are_skipped(
    machine: str, threads: int, placement: str, seed: int, away: int
) -> None:
    """S1, C6: the loop is skipped until the next probe, or until the next atomic of a sibling,
    which may wait for the hart's lock.
    """
    check_equal_in_every_mode(
        job(machine, guest("in_turn"), threads, placement=placement, seed=seed, away=away)
    )


@pytest.mark.parametrize("away", [0, 30, 300])
@pytest.mark.parametrize("placement", ["compact", "scatter", "siblings"])
@pytest.mark.parametrize("machine", ["mesh", "epyc7601x2", "x8275clx2", "power9x2"])
def test_outcome_is_the_same_if_a_loop_is_skipped_while_its_loads_are_forwarded(
    machine: str, placement: str, away: int
) -> None:
    """S1, H3.3: as soon as the store buffer no longer forwards to the hart's loads, other harts may
    write the line.
    """
    check_equal_in_every_mode(job(machine, guest("buffered"), 8, placement=placement, away=away))


@pytest.mark.parametrize(
    "workload", ["ipi/storm", "lock/mtx_spin", "lock/rmlock", "lock/mcs", "refcount/atomic"]
)
@pytest.mark.parametrize("seed", [1, 3])
def test_outcome_is_the_same_if_loops_are_skipped_while_siblings_evict_their_lines(
    workload: str, seed: int
) -> None:
    """H1.1: an iteration that hits in the L2 costs more than the next one."""
    small = {"core.l1": "128B 1-way 4cy", "core.l2": "512B 2-way 14cy"}
    options = {"placement": "siblings", "overrides": small, "seeds": (seed,)}
    check_equal_in_every_mode(job("x8275clx2", workload, 9, **options))


@pytest.mark.parametrize("seed", [3, 4])
def test_outcome_of_weak_cores_is_the_same_in_every_execution_mode(seed: int) -> None:
    """The engine follows dependencies (H8.7) through branches, both when it executes single
    instructions and when it executes many at a time.
    """
    far = {"core.order": "weak", "chance.load": "10us"}
    check_equal_in_every_mode(job("bus:2", guest("forwards"), 2, overrides=far, seeds=(seed,)))


def check_equal_in_every_mode(job_: Job) -> None:
    outcome = native.run(job_, frozenset({"pace"}))
    for mode, limits in EXECUTION_MODES.items():
        other = native.run(job_, frozenset({"pace"}), **limits)
        assert [field for field in outcome if outcome[field] != other[field]] == [], mode
