"""Are operations on one contended line as frequent as measured?

`uncore validate --only contention` compares every point; these tests compare a few points of each
machine with the same bounds.
"""

from __future__ import annotations

import statistics

import pytest

from uncore.execution.execute import execute
from uncore.execution.request import make_job
from uncore_lab.validate import contention

MAX_ERROR_PCT = contention.CONTENTION_WORST_BAR.bound
QUICK_POINTS = {
    "i76700hq": (2, 3),
    "graviton2": (2, 8),
    "x8176x8": (4, 16, 28, 56, 224, 420),
    "milan-guest": (2, 18, 32, 64, 96, 160),
}


def points(machine: str, kind: str, threads: tuple[int, ...]) -> list[contention.ContentionPoint]:
    measured = contention.read(machine)
    return [contention.point(machine, measured, kind, number) for number in threads]


@pytest.mark.parametrize("machine", QUICK_POINTS)
def test_errors_of_sampled_predicted_rates_keep_their_bounds(machine: str) -> None:
    few = points(machine, "add", QUICK_POINTS[machine])
    errors = [abs(point.error) for point in few if point.is_judged]
    assert (
        max(errors) < MAX_ERROR_PCT
        and statistics.median(errors) < contention.CONTENTION_MEDIAN_BAR.bound
    )
    assert all(point.fairness > 0.05 for point in few)


def test_contended_rate_on_eight_sockets_is_a_bounded_share_of_that_on_one_socket() -> None:
    socket, all_threads = points("x8176x8", "add", (28, 420))
    assert (
        contention.RATE_RANGE_8176[0]
        < all_threads.simulated / socket.simulated
        < contention.RATE_RANGE_8176[1]
    )


def test_compare_and_swap_rate_falls_with_the_number_of_cores() -> None:
    """The measured rates are 18.4, 13.2 and 11.5 million per second. With four cores, one of four
    compare-and-swaps succeeds.
    """
    two, three, four = points("i76700hq", "cas", (2, 3, 4))
    assert two.simulated > 1.2 * three.simulated > 1.4 * four.simulated
    assert all(abs(point.error) < MAX_ERROR_PCT for point in (two, three, four))


def test_spin_locks_without_pauses_are_as_fast_as_measured() -> None:
    """A lock with backoff would be faster, because the line moves less often: 12 million operations
    per second instead of 5.1 million.
    """
    locked = [*points("graviton2", "spin", (4, 12)), *points("graviton2", "ticket", (4, 12))]
    assert all(abs(point.error) < contention.LOCKS_MEDIAN_BAR.goal for point in locked)


def test_second_hart_of_a_core_does_not_change_a_contended_rate() -> None:
    """C9: a second hart on a core neither speeds up a contended line nor makes its throughput
    collapse.
    """
    jobs = [
        make_job(
            "x6130x2", "counter/contended", [32, 64], parameters={"by": by, "duration": "50us"}
        )
        for by in ("add", "cas")
    ]
    for result in execute(jobs, 2):
        cores, siblings = (point.throughput or 0 for point in result.points)
        assert 0.8 < siblings / cores < 1.4
