"""Is a run's steady state what lies between its warm-up and its end, and its rate that?"""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from uncore.execution import enough
from uncore.result.steady import LEVEL, Pace, interval, steady, warm_up

SPAN = 1 << 10
US = 10**6


def pace(counts: list[int], entered: int = 0, left: int | None = None, first: int = 7) -> Pace:
    """Operations at the ends of spans; all harts are there unless that is said."""
    begin = first * SPAN
    spans = [(n, begin + (i + 1) * SPAN - 1 if n else 0) for i, n in enumerate(counts)]
    end = len(counts) * SPAN if left is None else left
    return Pace(begin + entered, begin + end, SPAN, first, spans)


def per_span(rate_and_short: tuple[float | None, bool]) -> float:
    rate, _ = rate_and_short
    assert rate is not None
    return rate * SPAN / 1e12


def test_a_rate_is_operations_over_the_time_from_one_to_another() -> None:
    assert per_span(steady(pace([3] * 100))) == pytest.approx(3)
    assert per_span(steady(pace([0, 0, 0, 1] * 50))) == pytest.approx(1 / 4)


def test_a_slow_start_is_cut_off() -> None:
    assert per_span(steady(pace([0] * 12 + [1] * 8 + [4] * 80))) == pytest.approx(4)


def test_what_is_done_while_harts_are_missing_does_not_count() -> None:
    late = [9] * 20 + [4] * 80
    assert per_span(steady(pace(late, entered=20 * SPAN))) == pytest.approx(4)
    gone = [4] * 60 + [1] * 40
    assert per_span(steady(pace(gone, left=60 * SPAN))) == pytest.approx(4)


def test_the_first_quarter_is_left_out_in_any_case() -> None:
    assert per_span(steady(pace([3, 5] * 12 + [4] * 76))) == pytest.approx(4)


def test_a_run_that_would_lose_half_of_itself_is_short() -> None:
    assert steady(pace([4] * 100, entered=60 * SPAN)) == (None, True)
    assert steady(pace([4] * 4)) == (None, True)  # too few operations
    assert steady(pace([4] * 100, entered=48 * SPAN))[1]
    assert not steady(pace([4] * 100))[1]


def test_warm_up_is_where_the_standard_error_is_least() -> None:
    assert warm_up([*[9, 0, 9, 0, 9] * 2, *[1] * 5 * 8]) == 2
    assert warm_up([1] * 20) == 0


def test_what_is_done_while_threads_end_is_cut_off() -> None:
    assert per_span(steady(pace([4] * 84 + [1] * 16))) == pytest.approx(4)


@pytest.mark.parametrize("count", enough.RUNS)
@pytest.mark.parametrize("draw", [lambda of: of.gauss(1, 1), lambda of: of.expovariate(1)])
def test_intervals_hold_the_median_as_often_as_they_say(
    count: int, draw: Callable[[random.Random], float]
) -> None:
    of, held, tries = random.Random(1), 0, 3000
    median = sorted(draw(of) for _ in range(100_001))[50_000]
    for _ in range(tries):
        low, high = interval([draw(of) for _ in range(count)])
        held += low <= median <= high
    assert LEVEL / 100 - 0.01 <= held / tries <= 0.98


def test_ends_of_intervals_are_those_of_any_table_of_order_statistics() -> None:
    ends = [interval([*range(1, count + 1)]) for count in (3, 6, 9, 17)]
    assert ends == [(1, 3), (1, 6), (2, 8), (5, 13)]
    assert interval([*range(1, 10)], further=1) == (3, 7)
