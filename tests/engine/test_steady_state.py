"""Is a run's steady state the part between warm-up and end, and is the reported rate that of this
part?
"""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from uncore.execution import enough
from uncore.support.steady import CONFIDENCE_PERCENT, STUDENT, Pace, interval, steady, warm_up

SPAN_PS = 1 << 10


def pace(counts: list[int], entered: int = 0, left: int | None = None, first: int = 7) -> Pace:
    """Returns a Pace with `counts[i]` operations at the end of span i. All harts run together from
    `entered` to `left`, in ps after the first span's start; by default, all the time.
    """
    start = first * SPAN_PS
    spans = [(n, start + (i + 1) * SPAN_PS - 1 if n else 0) for i, n in enumerate(counts)]
    end = len(counts) * SPAN_PS if left is None else left
    return Pace(start + entered, start + end, SPAN_PS, first, spans)


def per_span(pace: Pace) -> float:
    rate = steady(pace)
    assert rate is not None
    operations, ps = rate
    return operations / ps * SPAN_PS


def test_steady_rate_is_measured_between_the_ends_of_two_operations() -> None:
    # without the first 25 and the last 12 spans, 63 remain; the first of them only begins the time
    assert steady(pace([3] * 100)) == (3 * 62, 62 * SPAN_PS)
    assert per_span(pace([0, 0, 0, 1] * 50)) == pytest.approx(1 / 4)


def test_steady_state_excludes_a_slow_start() -> None:
    assert per_span(pace([0] * 12 + [1] * 8 + [4] * 80)) == pytest.approx(4)


def test_steady_state_excludes_times_at_which_not_all_harts_run() -> None:
    late_start = [9] * 20 + [4] * 80
    assert per_span(pace(late_start, entered=20 * SPAN_PS)) == pytest.approx(4)
    early_end = [4] * 60 + [1] * 40
    assert per_span(pace(early_end, left=60 * SPAN_PS)) == pytest.approx(4)


def test_steady_state_excludes_the_first_quarter() -> None:
    assert per_span(pace([3, 5] * 12 + [4] * 76)) == pytest.approx(4)


def test_no_steady_state_if_all_harts_run_together_for_less_than_half_of_the_run() -> None:
    assert steady(pace([4] * 100, entered=51 * SPAN_PS)) is None
    assert steady(pace([4] * 100, entered=50 * SPAN_PS)) is not None


def test_no_steady_state_with_fewer_than_twenty_operations() -> None:
    assert steady(pace([1] * 33)) == (20, 20 * SPAN_PS)
    assert steady(pace([1] * 32)) is None


def test_warm_up_ends_where_the_standard_error_is_least() -> None:
    assert warm_up([*[9, 0, 9, 0, 9] * 2, *[1] * 5 * 8]) == 2
    assert warm_up([1] * 20) == 0


def test_steady_state_excludes_the_end_at_which_threads_finish() -> None:
    assert per_span(pace([4] * 84 + [1] * 16)) == pytest.approx(4)


@pytest.mark.parametrize("count", enough.RUN_COUNTS)
@pytest.mark.parametrize(
    "draw", [lambda source: source.gauss(1, 1), lambda source: source.expovariate(1)]
)
def test_intervals_contain_the_median_with_their_stated_confidence(
    count: int, draw: Callable[[random.Random], float]
) -> None:
    source, hits, tries = random.Random(1), 0, 3000
    median = sorted(draw(source) for _ in range(100_001))[50_000]
    for _ in range(tries):
        low, high = interval([draw(source) for _ in range(count)])
        hits += low <= median <= high
    assert CONFIDENCE_PERCENT / 100 - 0.06 * (count in STUDENT) - 0.01 <= hits / tries <= 0.98


def test_interval_bounds_agree_with_published_tables() -> None:
    ends = [interval([*range(1, count + 1)]) for count in (6, 9, 17)]
    assert ends == [(1, 6), (2, 8), (5, 13)]
    assert interval([1, 2, 3]) == pytest.approx((2 - 4.303 / 3**0.5, 2 + 4.303 / 3**0.5))
    assert interval([*range(1, 10)], further_dropped=1) == (3, 7)
