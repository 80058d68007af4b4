"""Is a mixture narrow if its components agree, and does the true value get the best score?"""

from __future__ import annotations

from math import exp, log, pi, sqrt

import pytest

from uncore_lab.predict.mixture import Mixture, log_normal


def test_interval_of_a_single_component_contains_four_fifths_of_it() -> None:
    low, high = log_normal(20.0, 0.1).interval(0.8)
    assert (low, high) == pytest.approx((20 * exp(-0.12816), 20 * exp(0.12816)), rel=1e-4)
    assert log_normal(20.0, 0.1).deviation == pytest.approx(0.1, rel=1e-3)


def test_mixture_of_two_kinds_of_relatives_has_two_peaks() -> None:
    """Values between the peaks are unlikely, and both peaks are inside the interval."""
    both = Mixture((log(20), log(50)), (0.5, 0.5), (0.05, 0.05))
    low, high = both.interval(0.8)
    assert low < 20 < 50 < high
    middle = both.quantile(0.6) / both.quantile(0.4)
    assert middle > 2  # these quantiles are on both sides of the gap, which has little probability


def test_median_of_a_mixture_lies_in_its_heavier_component() -> None:
    assert Mixture((log(20), log(50)), (0.2, 0.8), (0.05, 0.05)).median == pytest.approx(
        50, rel=0.03
    )


def test_score_of_a_log_normal_equals_the_closed_form() -> None:
    """Gneiting and Raftery 2007, equation 21, at the mean: deviation (sqrt 2 - 1) / sqrt pi."""
    assert log_normal(20.0, 0.3).crps(20.0) == pytest.approx(
        0.3 * (sqrt(2) - 1) / sqrt(pi), rel=1e-6
    )


def test_score_of_a_value_without_spread_is_the_error_of_its_logarithm() -> None:
    assert log_normal(20.0, 1e-6).crps(25.0) == pytest.approx(log(25 / 20), rel=1e-4)


def test_a_wide_component_widens_its_own_side_only() -> None:
    both = Mixture((log(20), log(50)), (0.5, 0.5), (0.5, 0.02))
    assert both.quantile(0.02) < 10 and both.quantile(0.98) < 60
    # half of it is certain of a wrong value
    assert both.crps(20.0) > log_normal(20.0, 0.5).crps(20.0)


def test_wider_distribution_improves_the_score_of_wrong_predictions_only() -> None:
    assert log_normal(20.0, 0.3).crps(40.0) < log_normal(20.0, 0.03).crps(40.0)
    assert log_normal(20.0, 0.03).crps(20.1) < log_normal(20.0, 0.3).crps(20.1)
