"""Does SST, where it is installed, run our programs on our machines, and rightly?

Every program checks itself: lost updates, torn records and late wake-ups fail it.
"""

from __future__ import annotations

import pytest

from uncore import api, engine
from uncore.result import Point

missing = engine.load("sst").missing() if "sst" in engine.names() else "not in this copy"
pytestmark = pytest.mark.skipif(bool(missing), reason=f"engine sst: {missing}")

SHAPES = ["bus:{}", "ring:{}", "mesh:{}x1", "ccx:2x{}"]
WORKLOADS = {
    "latency/pingpong": {"rounds": "10", "pairs": "one"},
    "lock/ticket": {"ops": "10"},
    "refcount/atomic": {"ops": "10"},
    "epoch/ebr": {"ops": "5"},
    "ipi/pingpong": {"rounds": "5", "pairs": "one"},
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
