"""Is a run's steady state the part between warm-up and end, and is the rate that of this part?"""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from uncore.execution import enough
from uncore.support.steady import CONFIDENCE_PERCENT, STUDENT, Pace, interval, steady, warm_up

SPAN = 1 << 10


def pace(counts: list[int], entered: int = 0, left: int | None = None, first: int = 7) -> Pace:
    """Returns a Pace with operations at the ends of spans; all harts take part unless `entered` or
    `left` say otherwise.
    """
    begin = first * SPAN
    spans = [(n, begin + (i + 1) * SPAN - 1 if n else 0) for i, n in enumerate(counts)]
    end = len(counts) * SPAN if left is None else left
    return Pace(begin + entered, begin + end, SPAN, first, spans)


def per_span(pace: Pace) -> float:
    found = steady(pace)
    assert found is not None
    return found[0] / found[1] * SPAN


def test_a_rate_is_operations_over_the_time_from_one_to_another() -> None:
    assert steady(pace([3] * 100)) == (
        3 * 62,
        62 * SPAN,
    )  # 100 - 25 - 12 spans
    assert per_span(pace([0, 0, 0, 1] * 50)) == pytest.approx(1 / 4)


def test_a_slow_start_is_cut_off() -> None:
    assert per_span(pace([0] * 12 + [1] * 8 + [4] * 80)) == pytest.approx(4)


def test_operations_while_harts_are_missing_do_not_count() -> None:
    late = [9] * 20 + [4] * 80
    assert per_span(pace(late, entered=20 * SPAN)) == pytest.approx(4)
    gone = [4] * 60 + [1] * 40
    assert per_span(pace(gone, left=60 * SPAN)) == pytest.approx(4)


def test_the_first_quarter_is_left_out_in_any_case() -> None:
    assert per_span(pace([3, 5] * 12 + [4] * 76)) == pytest.approx(4)


def test_a_run_in_which_all_are_there_for_less_than_half_of_it_has_no_steady_state() -> None:
    assert steady(pace([4] * 100, entered=51 * SPAN)) is None
    assert steady(pace([4] * 100, entered=50 * SPAN)) is not None


def test_fewer_than_twenty_operations_are_no_steady_state() -> None:
    assert steady(pace([1] * 33)) == (20, 20 * SPAN)
    assert steady(pace([1] * 32)) is None


def test_warm_up_is_where_the_standard_error_is_least() -> None:
    assert warm_up([*[9, 0, 9, 0, 9] * 2, *[1] * 5 * 8]) == 2
    assert warm_up([1] * 20) == 0


def test_operations_while_threads_end_are_cut_off() -> None:
    assert per_span(pace([4] * 84 + [1] * 16)) == pytest.approx(4)


@pytest.mark.parametrize("count", enough.RUN_COUNTS)
@pytest.mark.parametrize("draw", [lambda of: of.gauss(1, 1), lambda of: of.expovariate(1)])
def test_intervals_hold_the_median_as_often_as_they_say(
    count: int, draw: Callable[[random.Random], float]
) -> None:
    of, held, tries = random.Random(1), 0, 3000
    median = sorted(draw(of) for _ in range(100_001))[50_000]
    for _ in range(tries):
        low, high = interval([draw(of) for _ in range(count)])
        held += low <= median <= high
    assert CONFIDENCE_PERCENT / 100 - 0.06 * (count in STUDENT) - 0.01 <= held / tries <= 0.98


def test_ends_of_intervals_are_those_of_any_table() -> None:
    ends = [interval([*range(1, count + 1)]) for count in (6, 9, 17)]
    assert ends == [(1, 6), (2, 8), (5, 13)]
    assert interval([1, 2, 3]) == pytest.approx((2 - 4.303 / 3**0.5, 2 + 4.303 / 3**0.5))
    assert interval([*range(1, 10)], further=1) == (3, 7)
