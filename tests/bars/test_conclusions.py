"""Does the result of a lock depend on the order in which its harts arrived?

If an order of arrival lasted for the whole run, the median of a few seeds would change when harts
start at more distant times.
"""

from __future__ import annotations

import pytest

from uncore.execution.execute import execute
from uncore.execution.request import make_job

LOCKS = {"lock/mcs": 100, "lock/cna": 100, "lock/ticket": 100, "lock/tas": 400}  # ops per hart
START_SPAN_PS = 20_000_000  # ps added to the latest possible start of a hart
QUICK_CASES = [("epyc7601x2", 64, lock) for lock in LOCKS]
LONG_CASES = [
    (machine, harts, lock)
    for machine, harts in (("epyc7601x2", 128), ("epyc9654x2", 192))
    for lock in LOCKS
]


def throughput(machine: str, harts: int, lock: str, start: str) -> float:
    """Returns the median throughput of three seeds."""
    settings = {"overrides": {"chance.start": start}, "parameters": {"ops": LOCKS[lock]}}
    (result,) = execute([make_job(machine, lock, (harts,), seeds=(1, 2, 3), **settings)])
    return sorted(point.throughput or 0 for point in result.points)[1]


@pytest.mark.parametrize(
    ("machine", "harts", "lock"),
    [*QUICK_CASES, *(pytest.param(*case, marks=pytest.mark.long) for case in LONG_CASES)],
)
def test_median_throughput_of_a_lock_does_not_depend_on_start_times(
    machine: str, harts: int, lock: str
) -> None:
    usual, farther = (
        throughput(machine, harts, lock, f"{1_000_000 + more // harts}ps")
        for more in (0, START_SPAN_PS)
    )
    assert farther == pytest.approx(usual, rel=0.1)
