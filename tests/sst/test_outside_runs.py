"""Do the checks of outside simulators pass on an engine that follows the model?

The checks compare SST or gem5 with `native`; here `reference` replaces these simulators.
"""

from __future__ import annotations

import pytest
from msgspec import UNSET
from tests.support import outside_runs


@pytest.mark.parametrize("workload", outside_runs.WORKLOADS)
def test_engine_that_follows_the_model_agrees_with_native(workload: str) -> None:
    outside_runs.agree("reference", "bus:4", workload)


def test_engine_that_follows_the_model_has_the_counts_of_native() -> None:
    outside_runs.counted("reference", within=0.0)


def test_each_seed_delays_the_starts_of_harts_differently() -> None:
    outside_runs.late("reference")


def test_run_in_lockstep_gives_one_point() -> None:
    points = [
        outside_runs.run(engine, "bus:4", "lock/ticket", 2) for engine in ("native", "reference")
    ]
    assert all(point.seed is UNSET for point in points)
    assert points[0].elapsed_ps == points[1].elapsed_ps
