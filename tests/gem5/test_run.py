"""Does gem5, if it is installed, run programs on our machines correctly?

Every program checks itself: lost updates, torn records and late wake-ups make it fail.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from tests.support import outside_runs
from tests.support.outside_runs import WORKLOADS, run

from uncore import engine
from uncore.engine.gem5 import find
from uncore.engine.gem5.options import Options
from uncore.engine.options import take

missing = engine.missing("gem5")
pytestmark = pytest.mark.skipif(bool(missing), reason=f"engine gem5: {missing}")
protocols = (
    () if missing or not (installed := find.locate(take(Options, {}))) else installed.protocols
)

MACHINES = ["bus:4", "ring:4", "mesh:2x2", "ccx:1x4"]
run_gem5 = partial(run, "gem5")


@pytest.mark.parametrize("workload", WORKLOADS)
@pytest.mark.parametrize("machine", MACHINES)
def test_every_shape_runs_every_kind_of_program(machine: str, workload: str) -> None:
    outside_runs.agree("gem5", machine, workload)


@pytest.mark.skipif("CHI" not in protocols, reason="this gem5 has no CHI")
@pytest.mark.parametrize("workload", WORKLOADS)
@pytest.mark.parametrize("machine", ["ccx:2x2", "kunpeng920", "epyc7601x2"])
def test_programs_run_on_harts_of_two_complexes(machine: str, workload: str) -> None:
    """Two harts run in each of two complexes. On the EPYC both complexes are on one die."""
    placement = {"ccx:2x2": "compact", "kunpeng920": "0,1,4,5", "epyc7601x2": "0,2,8,10"}[machine]
    assert run_gem5(machine, workload, 4, placement=placement).failures == []


def test_requests_and_lost_copies_are_counted_as_on_native() -> None:
    outside_runs.counted("gem5", within=0.5)


@pytest.mark.skipif("CHI" not in protocols, reason="this gem5 has no CHI")
def test_a_handoff_within_a_complex_does_not_wait_for_memory() -> None:
    """If a level evicted the dirty line, it would write the line home before the new owner could
    write.
    """
    overrides = {
        "core.lr": "shared",
        "core.hold": "0cy",
        "core.mispredict": "0cy",
        "core.pause": "0.5cy",
        "core.store_buffer": "1",
        "ccx.resolver.reply": "direct",
        "ccx.resolver.unblock": "completion",
    }
    gem5_ps, native_ps = (
        run(engine, "ccx:1x4", "latency/pingpong", 2, overrides=overrides).elapsed_ps
        for engine in ("gem5", "native")
    )
    assert gem5_ps == pytest.approx(native_ps, rel=0.1)


def test_crosscheck_of_all_jobs_writes_a_row_for_each_program(tmp_path: Path) -> None:
    outside_runs.compared("gem5", tmp_path)


def test_each_seed_delays_the_starts_of_harts_differently() -> None:
    outside_runs.late("gem5")


def test_two_equal_runs_give_equal_points() -> None:
    assert run_gem5("ring:4", "refcount/atomic", 4) == run_gem5("ring:4", "refcount/atomic", 4)


@pytest.mark.xfail(
    protocols[:1] == ("MOESI_CMP_directory",),
    reason="pairs take a fifth longer there, and readers of a line are served in turn",
    strict=True,
)
@pytest.mark.parametrize("threads", [2, 4, pytest.param(16, marks=pytest.mark.long)])
def test_times_match_native_on_machines_with_matching_conventions(threads: int) -> None:
    outside_runs.matched("gem5", threads, protocols[0])  # the first protocol supports a ring
