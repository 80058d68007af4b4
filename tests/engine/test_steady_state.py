"""Is a run's steady state the part between warm-up and end, and is the rate that of this part?"""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from uncore.execution import enough
from uncore.support.steady import CONFIDENCE_PERCENT, STUDENT, Pace, interval, steady, warm_up

SPAN = 1 << 10


def pace(counts: list[int], entered: int = 0, left: int | None = None, first: int = 7) -> Pace:
    """Returns a Pace with `counts[i]` operations at the end of span i. All harts take part from
    `entered` to `left`, in ps after the first span's begin; by default, always.
    """
    begin = first * SPAN
    spans = [(n, begin + (i + 1) * SPAN - 1 if n else 0) for i, n in enumerate(counts)]
    end = len(counts) * SPAN if left is None else left
    return Pace(begin + entered, begin + end, SPAN, first, spans)


def per_span(pace: Pace) -> float:
    found = steady(pace)
    assert found is not None
    return found[0] / found[1] * SPAN


def test_steady_rate_is_operations_per_time_between_two_operations() -> None:
    assert steady(pace([3] * 100)) == (
        3 * 62,
        62 * SPAN,
    )  # 100 - 25 - 12 spans
    assert per_span(pace([0, 0, 0, 1] * 50)) == pytest.approx(1 / 4)


def test_a_slow_start_is_cut_off() -> None:
    assert per_span(pace([0] * 12 + [1] * 8 + [4] * 80)) == pytest.approx(4)


def test_operations_before_all_harts_run_or_after_one_ends_do_not_count() -> None:
    late = [9] * 20 + [4] * 80
    assert per_span(pace(late, entered=20 * SPAN)) == pytest.approx(4)
    gone = [4] * 60 + [1] * 40
    assert per_span(pace(gone, left=60 * SPAN)) == pytest.approx(4)


def test_first_quarter_is_always_left_out() -> None:
    assert per_span(pace([3, 5] * 12 + [4] * 76)) == pytest.approx(4)


def test_no_steady_state_if_all_harts_run_together_for_less_than_half() -> None:
    assert steady(pace([4] * 100, entered=51 * SPAN)) is None
    assert steady(pace([4] * 100, entered=50 * SPAN)) is not None


def test_fewer_than_twenty_operations_have_no_steady_state() -> None:
    assert steady(pace([1] * 33)) == (20, 20 * SPAN)
    assert steady(pace([1] * 32)) is None


def test_warm_up_ends_where_the_standard_error_is_least() -> None:
    assert warm_up([*[9, 0, 9, 0, 9] * 2, *[1] * 5 * 8]) == 2
    assert warm_up([1] * 20) == 0


def test_operations_while_threads_end_are_cut_off() -> None:
    assert per_span(pace([4] * 84 + [1] * 16)) == pytest.approx(4)


@pytest.mark.parametrize("count", enough.RUN_COUNTS)
@pytest.mark.parametrize("draw", [lambda of: of.gauss(1, 1), lambda of: of.expovariate(1)])
def test_intervals_contain_the_median_with_their_stated_confidence(
    count: int, draw: Callable[[random.Random], float]
) -> None:
    of, held, tries = random.Random(1), 0, 3000
    median = sorted(draw(of) for _ in range(100_001))[50_000]
    for _ in range(tries):
        low, high = interval([draw(of) for _ in range(count)])
        held += low <= median <= high
    assert CONFIDENCE_PERCENT / 100 - 0.06 * (count in STUDENT) - 0.01 <= held / tries <= 0.98


def test_interval_bounds_agree_with_published_tables() -> None:
    ends = [interval([*range(1, count + 1)]) for count in (6, 9, 17)]
    assert ends == [(1, 6), (2, 8), (5, 13)]
    assert interval([1, 2, 3]) == pytest.approx((2 - 4.303 / 3**0.5, 2 + 4.303 / 3**0.5))
    assert interval([*range(1, 10)], further=1) == (3, 7)
