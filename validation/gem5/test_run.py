"""Does gem5, where it is installed, run our programs on our machines, and rightly?

Every program checks itself: lost updates, torn records and late wake-ups fail it.
"""

from __future__ import annotations

import pytest

from uncore import api, engine, paths
from uncore.engine import gem5
from uncore.engine.crosscheck import crosscheck
from uncore.result import Point

missing = engine.load("gem5").missing()
pytestmark = pytest.mark.skipif(bool(missing), reason=f"engine gem5: {missing}")
protocols = () if missing or not (found := gem5.find.found()) else found.protocols

MACHINES = ["bus:4", "ring:4", "mesh:2x2", "ccx:1x4"]
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
        machine, workload, [threads], engine="gem5", parameters=WORKLOADS[workload], **options
    )
    (point,) = result.outcome.points
    return point


@pytest.mark.parametrize("workload", WORKLOADS)
@pytest.mark.parametrize("machine", MACHINES)
def test_every_shape_runs_every_kind_of_program(machine: str, workload: str) -> None:
    point = run(machine, workload, 4)
    assert point.failures == []
    ours = api.run(machine, workload, [4], parameters=WORKLOADS[workload]).outcome.points[0]
    assert point.thread_ops == ours.thread_ops


@pytest.mark.skipif("CHI" not in protocols, reason="this gem5 has no CHI")
@pytest.mark.parametrize("workload", WORKLOADS)
@pytest.mark.parametrize("machine", ["ccx:2x2", "kunpeng920", "epyc7601x2"])
def test_complexes_share_lines(machine: str, workload: str) -> None:
    """Two harts of each of two complexes; of the EPYC, those of one die."""
    place = {"ccx:2x2": "compact", "kunpeng920": "0,1,4,5", "epyc7601x2": "0,2,8,10"}[machine]
    assert run(machine, workload, 4, placement=place).failures == []


@pytest.mark.skipif("MESI_Two_Level" not in protocols, reason="this gem5 has no MESI_Two_Level")
def test_requests_and_lost_copies_are_counted_as_ours_are() -> None:
    point = run("ring:4", "lock/ticket", 4)
    ours = api.run("ring:4", "lock/ticket", [4], parameters=WORKLOADS["lock/ticket"])
    (native,) = ours.outcome.points
    assert native.transactions and native.invalidations
    assert point.transactions == pytest.approx(native.transactions, rel=0.5)
    assert point.invalidations == pytest.approx(native.invalidations, rel=0.5)


def test_the_same_run_gives_the_same_point() -> None:
    assert run("ring:4", "refcount/atomic", 4) == run("ring:4", "refcount/atomic", 4)


@pytest.mark.skipif("MESI_Two_Level" not in protocols, reason="this gem5 has no MESI_Two_Level")
@pytest.mark.parametrize("threads", [2, 4, pytest.param(16, marks=pytest.mark.long)])
def test_matching_conventions_give_matching_times(threads: int) -> None:
    """Times per operation on `matching/gem5_mesi`: all within a quarter, the middle one in 10 %."""
    machine = str(paths.TOPOLOGIES / "matching/gem5_mesi.toml")
    off = []
    for workload, size in MATCHED.items():
        job = api.make_job(machine, workload, [threads], parameters=size)
        (crossed,) = crosscheck(job, ["native", "gem5"])
        assert crossed.broken() == crossed.apart() == []
        ratio = crossed.ratio(crossed.sides[1])
        assert ratio
        off.append(abs(ratio - 1))
    assert sorted(off)[len(off) // 2] < 0.10 and max(off) < 0.25, off
