"""Does `fairness` say who was served less, with fixed work as in equal time?"""

from __future__ import annotations

import msgspec
import pytest

from uncore import api
from uncore.result import Point

UNKNOWN = dict.fromkeys((f for f in Point.__struct_fields__ if f != "absent"), "made up")
EQUAL, LATE = [(0, 100), (0, 100)], [(0, 100), (50, 250)]


def fairness(ops: list[int], times: list[tuple[int, int]]) -> float | None:
    end = max(end for _, end in times)
    return Point(
        threads=len(ops),
        ops=sum(ops),
        elapsed_ps=end,
        thread_ops=ops,
        thread_ps=times,
        absent=UNKNOWN,
    ).fairness


@pytest.mark.parametrize(
    ("ops", "times", "expected"),
    [
        ([10, 10], EQUAL, 1.0),
        ([10, 10], LATE, 0.5),  # fixed work: the last took twice as long from its own beginning
        ([10, 5], EQUAL, 0.5),  # equal time
        ([10, 0], EQUAL, 0.0),
        ([10], EQUAL[:1], None),
        ([0, 0], EQUAL, None),
        ([10, 10], [(0, 100), (0, 0)], None),  # one never entered the region of interest
    ],
)
def test_fairness_is_the_least_rate_over_the_most(ops, times, expected) -> None:
    assert fairness(ops, times) == expected


@pytest.mark.parametrize("asked", [{"ops": 200}, {"duration": "40us"}])
def test_a_queue_is_fair_and_an_exchange_near_the_line_is_not(asked: dict[str, object]) -> None:
    """Harts of three complexes and a single one far away, with fixed work and with fixed time."""
    words = {"placement": "0-11,60", "parameters": asked}
    fair, unfair = (
        api.run("epyc7601x2", lock, (13,), **words).points[0].fairness
        for lock in ("lock/mcs", "lock/tas")
    )
    assert fair > 0.8 > 0.6 > unfair > 0


def test_results_saved_before_times_were_kept_still_repeat() -> None:
    now = api.run("ccx:2x2", "lock/tas", (4,)).points[0]
    before = msgspec.structs.replace(now, thread_ps=msgspec.UNSET)
    assert before.fairness is None and now.as_kept_by(before) == before != now
