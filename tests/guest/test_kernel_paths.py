"""Do the kernel workloads pass their checks in every variant, and do waiters back off?

Each workload that models a benchmark of will-it-scale runs with the parameters of `skeletons.toml`,
and with more harts than share an L3.  Its counts of memory, vnodes and free pages must be correct
with every lock that a system uses.
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
def test_every_kernel_workload_passes_its_own_check(shape: Series) -> None:
    values = {name: str(value) for name, value in shape.skeleton.values.items()}
    job = request.make_job(
        "ccx:3x4", shape.skeleton.workload, (HARTS,), parameters=values | {"work": "0", "ops": "8"}
    )
    assert native.run(job, frozenset())["failures"] == []


@pytest.mark.parametrize("locks", [{"lock_delay": "0"}, {"lock_delay": "64"}, {"mutex": "sleep"}])
def test_kernel_mutex_has_one_owner_with_every_way_of_waiting(locks: dict[str, str]) -> None:
    job = request.make_job("ccx:3x4", "kernel/brk", (HARTS,), parameters={"work": "0"} | locks)
    assert native.run(job, frozenset())["failures"] == []


def lines_moved(workload: str, **parameters: str) -> int:
    """Returns the number of lines that move in a run."""
    result = api.run("ccx:3x4", workload, [HARTS], parameters={"ops": "100"} | parameters)
    return sum((result.points[0].transfers or {}).values())


@pytest.mark.parametrize("tasks", ["processes", "threads"])
def test_only_map_entries_of_processes_refer_to_the_inherited_credential(tasks: str) -> None:
    """A thread extends an existing map entry, so only processes touch the credential."""
    without, referred = (
        lines_moved("kernel/brk", accounting="atomic", tasks=tasks, credential=value)
        for value in "01"
    )
    assert (referred > 1.3 * without) == (tasks == "processes")


@pytest.mark.parametrize("tasks", ["processes", "threads"])
def test_only_threads_that_lock_files_contend_for_the_descriptor_table(tasks: str) -> None:
    without, rechecked = (
        lines_moved("kernel/file_lock", owners="none", tasks=tasks, recheck=value) for value in "01"
    )
    assert (rechecked > 2 * without) == (tasks == "threads")


def test_processes_that_open_files_contend_for_their_security_label() -> None:
    """If walking a path takes no references, the security label is all that processes share."""
    without, labelled = (
        lines_moved("kernel/open", guard="queued", tasks="processes", label=value) for value in "01"
    )
    assert labelled > 4 * without


@pytest.mark.parametrize("workload", ["lock/mtx_def", "lock/sx", "kernel/file_lock"])
def test_waiters_with_a_lock_delay_fetch_the_lock_less_often_than_without(workload: str) -> None:
    """Without a delay, a waiter reads the lock after every pause and fetches the line each time."""
    assert lines_moved(workload, lock_delay="256") < 0.7 * lines_moved(workload, lock_delay="0")


def test_mmap_tasks_queue_for_the_lock_of_linux_reserved_memory_counter():
    """On a real EPYC 7601, more than eight tasks were seen to queue for the lock of Linux's count
    of reserved memory.
    """
    linux = next(s for s in SHAPES if (s.benchmark, s.kind) == ("mmap1", "linux"))
    values = {name: str(value) for name, value in linux.skeleton.values.items()}
    values |= {"work": "3000", "ops": "64"}
    points = api.run("epyc7601x2", linux.skeleton.workload, [4, 16], parameters=values).points
    by_tasks = {n: [p.throughput for p in points if p.threads == n] for n in (4, 16)}
    assert max(by_tasks[16]) < 0.5 * min(by_tasks[4])


def gain_of_threads(**parameters: str) -> float:
    """Returns the rate of page faults with 12 threads of a process, relative to one thread."""
    values = {"queues": "percpu", "tasks": "threads", "work": "5000", "pages": "32", "ops": "64"}
    values |= parameters
    points = api.run("ccx:3x4", "kernel/page_fault", [1, HARTS], parameters=values).points
    one_thread, all_threads = (
        statistics.median(p.throughput for p in points if p.threads == n) for n in (1, HARTS)
    )
    return all_threads / one_thread


def test_threads_that_unmap_scale_worse_than_threads_that_only_fault():
    """One thread at a time does half of the work, because it holds the map's lock exclusively."""
    assert gain_of_threads(guard="tables") > 2.5
    assert 1 < gain_of_threads(guard="tables", unmapping="50") < 2.1


def test_locks_of_page_tables_let_threads_fault_in_parallel():
    """With a single lock for the whole memory object, threads contend at each page fault."""
    assert gain_of_threads(guard="tables") > 1.5 * gain_of_threads(guard="object")


def test_cpus_that_allocate_pages_in_bulk_move_fewer_lines_than_one_by_one():
    one_by_one, in_bulk = (
        lines_moved("kernel/page_fault", guard="tables", pages="62", ops="124", **pool)
        for pool in ({"pool": "list", "batch": "1"}, {"pool": "bulk", "batch": "14"})
    )
    assert in_bulk < 0.5 * one_by_one
