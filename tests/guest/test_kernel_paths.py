"""Do kernel paths pass their checks in every variant of a kernel, and do waiters back off?

Each skeleton of will-it-scale runs as `skeletons.toml` states it, with more harts than share an L3.
Accounts, vnodes and free pages must come out right with every lock that a system uses.
"""

from __future__ import annotations

import statistics

import pytest

from uncore import api
from uncore.engine import native
from uncore.execution import request
from uncore_lab.validate.series import Series, series

HARTS = 12
SHAPES = [s for s in series(["epyc7601x2"]) if s.benchmark != "getuid1"]


@pytest.mark.parametrize("shape", SHAPES, ids=lambda s: f"{s.benchmark}-{s.kind}")
def test_every_kernel_path_passes_its_own_check(shape: Series) -> None:
    values = {name: str(value) for name, value in shape.skeleton.values.items()}
    job = request.make_job(
        "ccx:3x4", shape.skeleton.workload, (HARTS,), parameters=values | {"work": "0", "ops": "8"}
    )
    assert native.run(job, frozenset())["failures"] == []


@pytest.mark.parametrize("locks", [{"lock_delay": "0"}, {"lock_delay": "64"}, {"mutex": "sleep"}])
def test_a_mutex_has_one_owner_for_every_way_of_waiting(locks: dict[str, str]) -> None:
    job = request.make_job("ccx:3x4", "kernel/brk", (HARTS,), parameters={"work": "0"} | locks)
    assert native.run(job, frozenset())["failures"] == []


def moved(workload: str, **parameters: str) -> int:
    """Returns the lines moved in a run."""
    result = api.run("ccx:3x4", workload, [HARTS], parameters={"ops": "100"} | parameters)
    return sum((result.points[0].transfers or {}).values())


@pytest.mark.parametrize("tasks", ["processes", "threads"])
def test_map_entries_of_processes_refer_to_the_inherited_credential(tasks: str) -> None:
    """A thread's range is part of an existing entry, so only processes touch the credential."""
    without, referred = (
        moved("kernel/brk", accounting="atomic", tasks=tasks, credential=value) for value in "01"
    )
    assert (referred > 1.3 * without) == (tasks == "processes")


@pytest.mark.parametrize("tasks", ["processes", "threads"])
def test_threads_that_lock_files_contend_for_their_descriptor_table(tasks: str) -> None:
    without, rechecked = (
        moved("kernel/file_lock", owners="none", tasks=tasks, recheck=value) for value in "01"
    )
    assert (rechecked > 2 * without) == (tasks == "threads")


def test_processes_that_open_files_contend_for_their_security_label() -> None:
    """Processes share only the security label if walking a path takes no references."""
    without, labelled = (
        moved("kernel/open", guard="queued", tasks="processes", label=value) for value in "01"
    )
    assert labelled > 4 * without


@pytest.mark.parametrize("workload", ["lock/mtx_def", "lock/sx", "kernel/file_lock"])
def test_waiters_back_off_from_the_locks_line(workload: str) -> None:
    """A waiter that reads the lock after every pause fetches its line each time it changes."""
    assert moved(workload, lock_delay="256") < 0.7 * moved(workload, lock_delay="0")


def test_folding_a_counter_part_under_its_lock_makes_mapping_tasks_queue():
    """With more than eight tasks on an EPYC 7601, tasks queue for the lock of Linux's count of
    reserved memory, as was measured.
    """
    linux = next(s for s in SHAPES if (s.benchmark, s.kind) == ("mmap1", "linux"))
    values = {name: str(value) for name, value in linux.skeleton.values.items()}
    values |= {"work": "3000", "ops": "64"}
    points = api.run("epyc7601x2", linux.skeleton.workload, [4, 16], parameters=values).points
    by_tasks = {n: [p.throughput for p in points if p.threads == n] for n in (4, 16)}
    assert max(by_tasks[16]) < 0.5 * min(by_tasks[4])


def gain_of_threads(**parameters: str) -> float:
    """Returns page faults a second with 12 threads of a process over those with one thread."""
    values = {"queues": "percpu", "tasks": "threads", "work": "5000", "pages": "32", "ops": "64"}
    values |= parameters
    points = api.run("ccx:3x4", "kernel/page_fault", [1, HARTS], parameters=values).points
    alone, many = (
        statistics.median(p.throughput for p in points if p.threads == n) for n in (1, HARTS)
    )
    return many / alone


def test_unmapping_excludes_other_threads_of_the_process():
    """Half of the work is done under the exclusive lock of the map, where only one thread works."""
    assert gain_of_threads(guard="tables") > 2.5
    assert 1 < gain_of_threads(guard="tables", unmapping="50") < 2.1


def test_locks_of_page_tables_let_threads_fault_in_parallel():
    """With one lock for the whole memory object instead, threads contend at each page fault."""
    assert gain_of_threads(guard="tables") > 1.5 * gain_of_threads(guard="object")


def test_cpus_that_take_pages_in_bulk_seldom_contend():
    one_by_one, in_bulk = (
        moved("kernel/page_fault", guard="tables", pages="62", ops="124", **pool)
        for pool in ({"pool": "list", "batch": "1"}, {"pool": "bulk", "batch": "14"})
    )
    assert in_bulk < 0.5 * one_by_one
