"""Does gem5, where it is installed, run our programs on our machines, and rightly?

Every program checks itself: lost updates, torn records and late wake-ups fail it.
"""

from __future__ import annotations

from functools import partial

import outside_runs
import pytest
from outside_runs import WORKLOADS

from uncore import engine
from uncore.engine import gem5

missing = engine.load("gem5").missing()
pytestmark = pytest.mark.skipif(bool(missing), reason=f"engine gem5: {missing}")
protocols = () if missing or not (found := gem5.find.found()) else found.protocols

MATCHING = {("MESI_Two_Level",): "mesi", ("CHI",): "chi"}  # the first can express a ring
MACHINES = ["bus:4", "ring:4", "mesh:2x2", "ccx:1x4"]
run = partial(outside_runs.run, "gem5")


@pytest.mark.parametrize("workload", WORKLOADS)
@pytest.mark.parametrize("machine", MACHINES)
def test_every_shape_runs_every_kind_of_program(machine: str, workload: str) -> None:
    outside_runs.agree("gem5", machine, workload)


@pytest.mark.skipif("CHI" not in protocols, reason="this gem5 has no CHI")
@pytest.mark.parametrize("workload", WORKLOADS)
@pytest.mark.parametrize("machine", ["ccx:2x2", "kunpeng920", "epyc7601x2"])
def test_complexes_share_lines(machine: str, workload: str) -> None:
    """Two harts of each of two complexes; of the EPYC, those of one die."""
    place = {"ccx:2x2": "compact", "kunpeng920": "0,1,4,5", "epyc7601x2": "0,2,8,10"}[machine]
    assert run(machine, workload, 4, placement=place).failures == []


def test_requests_and_lost_copies_are_counted_as_ours_are() -> None:
    outside_runs.counted("gem5", within=0.5)


def test_the_same_run_gives_the_same_point() -> None:
    assert run("ring:4", "refcount/atomic", 4) == run("ring:4", "refcount/atomic", 4)


@pytest.mark.skipif(protocols[:1] not in MATCHING, reason="nothing matches this gem5's protocol")
@pytest.mark.parametrize("threads", [2, 4, pytest.param(16, marks=pytest.mark.long)])
def test_matching_conventions_give_matching_times(threads: int) -> None:
    outside_runs.matched("gem5", threads, MATCHING[protocols[:1]])
