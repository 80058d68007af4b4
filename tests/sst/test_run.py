"""Does SST, if it is installed, run our programs on our machines correctly?

Every program checks itself: lost updates, torn records and late wake-ups make it fail.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from tests.support import outside_runs
from tests.support.outside_runs import WORKLOADS

from uncore import engine
from uncore.engine.options import take
from uncore.engine.sst import find
from uncore.engine.sst.options import Options

missing = engine.missing("sst") if "sst" in engine.names() else "not in this copy"
pytestmark = pytest.mark.skipif(bool(missing), reason=f"engine sst: {missing}")
installed = find.locate(take(Options, {}))

SHAPES = {
    2: ["bus:2", "ring:3", "mesh:3x2", "ccx:1x2"],
    16: ["bus:16", "ring:16", "mesh:4x4", "ccx:2x8"],
}
run = partial(outside_runs.run, "sst")


@pytest.mark.parametrize("workload", WORKLOADS)
@pytest.mark.parametrize("machine", ["bus:4", "ring:4", "mesh:2x2", "ccx:2x2"])
def test_every_shape_runs_every_kind_of_program(machine: str, workload: str) -> None:
    outside_runs.agree("sst", machine, workload)


@pytest.mark.parametrize(("threads", "machine"), [(n, m) for n, ms in SHAPES.items() for m in ms])
def test_every_thread_count_completes_its_operations(threads: int, machine: str) -> None:
    point = run(machine, "lock/ticket", threads)
    assert point.failures == [] and point.ops == 10 * threads


DIVIDED_RUNS = [("THREADS", m) for m in ("ring:4", "mesh:3x2", "epyc7601x2", "kunpeng920")]
if installed and installed.mpi:
    DIVIDED_RUNS += [("RANKS", m) for m in ("ring:4", "mesh:3x2", "epyc7601x2")]


@pytest.mark.parametrize(("option", "machine"), DIVIDED_RUNS)
def test_result_is_independent_of_ssts_threads_and_processes(
    option: str, machine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    points = []
    for number in ("1", "2"):
        monkeypatch.setenv(f"UNCORE_SST_{option}", number)
        points.append(run(machine, "refcount/atomic", 4, smt=False))
    assert points[0] == points[1]


def test_kingsley_mesh_takes_as_long_as_a_merlin_mesh(monkeypatch: pytest.MonkeyPatch) -> None:
    times = []
    for mesh in ("merlin", "kingsley"):
        monkeypatch.setenv("UNCORE_SST_MESH", mesh)
        if not engine.missing("sst"):
            times.append(run("mesh:4x4", "lock/ticket", 16).elapsed_ps)
    assert times[-1] == pytest.approx(times[0], rel=0.05)


def test_each_home_policy_runs_with_several_memory_nodes() -> None:
    for home in ("addressed", "interleave", "node7"):
        assert run("epyc7601x2", "lock/ticket", 4, smt=False, home=home).failures == []


def test_shared_level_serves_requests_without_the_home() -> None:
    """Handoffs within a complex take less time than handoffs between complexes."""
    near = run("ccx:2x4", "lock/ticket", 4)
    far = run("ccx:2x4", "lock/ticket", 4, placement="0,1,4,5")
    assert near.elapsed_ps < far.elapsed_ps


def test_requests_and_lost_copies_are_counted_as_on_native() -> None:
    outside_runs.counted("sst", within=0.3)


def test_crosscheck_of_all_jobs_writes_a_row_for_each_program(tmp_path: Path) -> None:
    outside_runs.compared("sst", tmp_path)


def test_each_seed_delays_the_starts_of_harts_differently() -> None:
    outside_runs.late("sst")


@pytest.mark.parametrize("threads", [2, 4, 16])
def test_times_match_native_on_machines_with_matching_conventions(threads: int) -> None:
    outside_runs.matched("sst", threads, "MESI")
