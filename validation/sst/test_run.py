"""Does SST, where it is installed, run our programs on our machines, and rightly?

Every program checks itself: lost updates, torn records and late wake-ups fail it.
"""

from __future__ import annotations

import pytest

from uncore import api, engine, paths
from uncore.engine import sst
from uncore.engine.crosscheck import crosscheck
from uncore.result import Point

missing = sst.missing() if "sst" in engine.names() else "not in this copy"
pytestmark = pytest.mark.skipif(bool(missing), reason=f"engine sst: {missing}")
found = sst.find.found()

SHAPES = {
    2: ["bus:2", "ring:3", "mesh:3x2", "ccx:1x2"],
    16: ["bus:16", "ring:16", "mesh:4x4", "ccx:2x8"],
}
WORKLOADS = {
    "latency/pingpong": {"rounds": "10", "pairs": "one"},
    "lock/ticket": {"ops": "10"},
    "refcount/atomic": {"ops": "10"},
    "epoch/ebr": {"ops": "5"},
    "ipi/pingpong": {"rounds": "5", "pairs": "one"},
}


MATCHED = {
    "latency/pingpong": {"rounds": "20"},
    "lock/ticket": {"ops": "40"},
    "refcount/atomic": {"ops": "40"},
}


def run(machine: str, workload: str, threads: int, **options: object) -> Point:
    result = api.run(
        machine, workload, [threads], engine="sst", parameters=WORKLOADS[workload], **options
    )
    (point,) = result.outcome.points
    return point


@pytest.mark.parametrize("workload", WORKLOADS)
@pytest.mark.parametrize("machine", ["bus:4", "ring:4", "mesh:2x2", "ccx:2x2"])
def test_every_shape_runs_every_kind_of_program(machine: str, workload: str) -> None:
    point = run(machine, workload, 4)
    assert point.failures == []
    ours = api.run(machine, workload, [4], parameters=WORKLOADS[workload]).outcome.points[0]
    assert point.thread_ops == ours.thread_ops


@pytest.mark.parametrize(("threads", "machine"), [(n, m) for n, ms in SHAPES.items() for m in ms])
def test_few_and_many_harts(threads: int, machine: str) -> None:
    point = run(machine, "lock/ticket", threads)
    assert point.failures == [] and point.ops == 10 * threads


SPREAD = [("THREADS", m) for m in ("ring:4", "mesh:3x2", "epyc7601x2", "kunpeng920")]
if found and found.mpi:
    SPREAD += [("RANKS", m) for m in ("ring:4", "mesh:3x2", "epyc7601x2")]


@pytest.mark.parametrize(("by", "machine"), SPREAD)
def test_threads_and_processes_of_sst_change_nothing(
    by: str, machine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    points = []
    for number in ("1", "2"):
        monkeypatch.setenv(f"UNCORE_SST_{by}", number)
        points.append(run(machine, "refcount/atomic", 4, smt=False))
    assert points[0] == points[1]


def test_a_mesh_of_kingsley_takes_what_one_of_merlin_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    taken = []
    for mesh in ("merlin", "kingsley"):
        monkeypatch.setenv("UNCORE_SST_MESH", mesh)
        if not sst.missing():
            taken.append(run("mesh:4x4", "lock/ticket", 16).elapsed_ps)
    assert taken[-1] == pytest.approx(taken[0], rel=0.05)


def test_memory_on_several_nodes_homed_by_each_policy() -> None:
    for home in ("addressed", "interleave", "node7"):
        assert run("epyc7601x2", "lock/ticket", 4, smt=False, home=home).failures == []


def test_a_shared_level_keeps_requests_from_the_home() -> None:
    """Handoffs within one complex cost less than those between two."""
    near = run("ccx:2x4", "lock/ticket", 4)
    far = run("ccx:2x4", "lock/ticket", 4, placement="0,1,4,5")
    assert near.elapsed_ps < far.elapsed_ps


def test_requests_and_lost_copies_are_counted_as_ours_are() -> None:
    point = run("ring:4", "lock/ticket", 4)
    ours = api.run("ring:4", "lock/ticket", [4], parameters=WORKLOADS["lock/ticket"])
    (native,) = ours.outcome.points
    assert native.transactions and native.invalidations
    assert point.transactions == pytest.approx(native.transactions, rel=0.3)
    assert point.invalidations == pytest.approx(native.invalidations, rel=0.3)


@pytest.mark.parametrize("threads", [2, 4, 16])
def test_matching_conventions_give_matching_times(threads: int) -> None:
    """Times per operation on `matching/sst_mesi`: all within a quarter, the middle one in 10 %."""
    machine = str(paths.TOPOLOGIES / "matching/sst_mesi.toml")
    off = []
    for workload, size in MATCHED.items():
        job = api.make_job(machine, workload, [threads], parameters=size)
        (crossed,) = crosscheck(job, ["native", "sst"])
        assert crossed.broken() == crossed.apart() == []
        ratio = crossed.ratio(crossed.sides[1])
        assert ratio
        off.append(abs(ratio - 1))
    assert sorted(off)[len(off) // 2] < 0.10 and max(off) < 0.25, off
