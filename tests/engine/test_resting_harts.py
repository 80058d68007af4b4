"""Do resting harts leave the latency of the pair that a tournament measures unchanged?

A tournament measures each pair of harts in turn, while all other harts rest.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from types import MappingProxyType

import pytest

from uncore.execution.execute import execute
from uncore.study.matrix import tournament

MACHINE = "r5800x3d"
CORES = (0, 2, 4, 6)  # one hart of each core
# the other hart of each core; it takes part of the issue width if it spins without pauses (H6.5)
SIBLINGS = (1, 3, 5, 7)
WORKLOADS = ("latency/pingpong", "ipi/pingpong", "ipi/ipiq")


def one_way(
    workload: str,
    harts: tuple[int, ...],
    engine: str = "native",
    overrides: Mapping[str, str] = MappingProxyType({}),
    **play: str,
) -> float:
    """Returns the median latency in ps between each two of the first harts, which are on different
    cores.
    """
    job = tournament(MACHINE, workload, harts, parameters=play, engine=engine, overrides=overrides)
    (point,) = execute([job])[0].points
    assert point.failures == []
    table = next(iter(point.tables.values()))
    players = range(len(CORES))
    return statistics.median(table[a][b] for a in players for b in players if a != b)


@pytest.mark.parametrize("workload", WORKLOADS)
def test_resting_siblings_do_not_slow_a_pair_down(workload: str) -> None:
    without_siblings = one_way(workload, CORES)
    assert one_way(workload, CORES + SIBLINGS) == pytest.approx(without_siblings, rel=0.02)


@pytest.mark.parametrize("workload", WORKLOADS)
def test_siblings_that_spin_with_short_pauses_change_a_pairs_latency(workload: str) -> None:
    """Instructions of two cycles each, whose share of a core decides a latency."""
    slow = {"core.pause": "1cy", "core.instruction": "2cy"}
    without_siblings = one_way(workload, CORES, overrides=slow)
    with_siblings = one_way(workload, CORES + SIBLINGS, overrides=slow, rest="spin")
    assert with_siblings != pytest.approx(without_siblings, rel=0.1)


@pytest.mark.parametrize("workload", WORKLOADS)
def test_siblings_that_mostly_pause_do_not_slow_a_pair_down(workload: str) -> None:
    without_siblings = one_way(workload, CORES)
    assert one_way(workload, CORES + SIBLINGS, rest="spin") == pytest.approx(
        without_siblings, rel=0.02
    )


@pytest.mark.parametrize("rest", ["sleep", "spin"])
def test_engines_agree_on_a_pair_with_resting_siblings(rest: str) -> None:
    native, reference = (
        one_way("latency/pingpong", CORES + SIBLINGS[:2], engine, rest=rest, rounds="2")
        for engine in ("native", "reference")
    )
    assert native == reference
