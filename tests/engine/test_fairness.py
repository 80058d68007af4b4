"""Does `fairness` compare the rates of harts, both with fixed work and in equal time?"""

from __future__ import annotations

from statistics import median

import msgspec
import pytest

from uncore import api
from uncore.report import curve
from uncore.result import Point, to_medians

UNKNOWN = dict.fromkeys((f for f in Point.__struct_fields__ if f != "absent"), "made up")
SAME_TIMES, LATE_AND_SLOW = [(0, 100), (0, 100)], [(0, 100), (50, 250)]


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
        ([10, 10], SAME_TIMES, 1.0),
        ([10, 10], LATE_AND_SLOW, 0.5),  # fixed work: the second hart took twice as long
        ([10, 5], SAME_TIMES, 0.5),  # equal time: the second hart did half as much
        ([10, 0], SAME_TIMES, 0.0),
        ([10], SAME_TIMES[:1], None),
        # both worked at the same time for less than half of the faster hart's time
        ([10, 10], [(0, 100), (51, 251)], None),
        # the first hart had finished when the second began
        ([10, 10], [(0, 100), (100, 200)], None),
        ([0, 0], SAME_TIMES, None),
        ([10, 10], [(0, 100), (0, 0)], None),  # one hart never entered the region of interest
    ],
)
def test_fairness_is_the_lowest_rate_divided_by_the_highest(ops, times, expected) -> None:
    assert fairness(ops, times) == expected


@pytest.mark.parametrize("options", [{"ops": 1000}, {"duration": "400us"}])
def test_queue_lock_is_fair_and_backoff_lock_is_not(options: dict[str, object]) -> None:
    """Runs the harts of three complexes and one distant hart, once with fixed work and once for a
    fixed time.
    """
    words = {"placement": "0-11,60", "parameters": options}
    queue, backoff = (
        [point.fairness for point in api.run("epyc7601x2", lock, (13,), **words).points]
        for lock in ("lock/mcs", "lock/ttas")
    )
    assert median(queue) > 0.8 > 0.7 > median(backoff) >= 0


def test_fairness_is_below_one_if_small_cores_compute_slower() -> None:
    options = {"duration": "100us"}
    for point in api.run("i912900k", "counter/percpu", (24,), parameters=options).points:
        assert 0.7 < point.fairness < 0.9


def test_fairness_is_undefined_if_harts_never_run_at_the_same_time() -> None:
    """The first hart has finished its few operations before the last one starts."""
    for point in api.run("i912900k", "counter/percpu", (24,), parameters={"ops": 200}).points:
        assert point.fairness is None


def test_fairness_is_undefined_for_one_thread(capsys: pytest.CaptureFixture[str]) -> None:
    result = api.run("ccx:2x2", "lock/tas", (1, 2))
    one_thread, two_threads = to_medians([result])
    assert one_thread["fairness"] is None
    assert two_threads["fairness"] in [
        round(p.fairness, 4) for p in result.points if p.threads == 2
    ]
    curve.show([result], as_json=False)
    assert f" {two_threads['fairness']:.2f} +-" in capsys.readouterr().out


def test_result_without_saved_thread_times_has_no_fairness() -> None:
    """Earlier versions did not save these times. A comparison ignores the field."""
    now = api.run("ccx:2x2", "lock/tas", (4,)).points[0]
    before = msgspec.structs.replace(now, thread_ps=msgspec.UNSET)
    assert before.fairness is None and now.limited_to(before) == before != now
