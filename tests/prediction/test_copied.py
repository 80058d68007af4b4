"""Is a class copied if lending predicts it no better, and does the report say so?"""

from __future__ import annotations

from typing import Any

import pytest

from uncore import topology
from uncore_lab.figures.hardware import by_level
from uncore_lab.predict import copied
from uncore_lab.predict.copied import Rule
from uncore_lab.results.table import load
from uncore_lab.validate import prediction
from uncore_lab.validate.leave_out import judged, rules


def rows() -> list[dict[str, Any]]:
    """Returns the rows on file, with numbers and booleans converted."""
    numbers = ("error_pct", "score", "measured_ns", "relative_pct", "scaled_pct", "family_pct")
    return [
        {**line}
        | {key: float(line[key]) if line[key] else None for key in numbers}
        | {key: line[key] == "yes" for key in ("inside", "x86")}
        for line in load("prediction")
    ]


def test_rules_on_file_for_copied_latencies_equal_those_computed_from_results() -> None:
    expected = {key: Rule(null, deviation) for key, (null, deviation) in rules(rows()).items()}
    assert copied.rules() == expected


def test_intervals_contain_about_80_per_cent_of_the_measured_medians() -> None:
    """One machine is left out at a time. The intervals should contain 80 % of its medians; 75 to
    88 % is accepted.
    """
    for side in judged(rows()):
        if side.left_out == "machine":
            assert 75 <= side.inside_pct <= 88, side.group


def test_lending_predicts_better_than_every_null_model_if_one_machine_is_left_out() -> None:
    for side in judged(rows()):
        if side.left_out == "machine":
            assert side.beats_all, side.row()


def test_values_in_the_bars_file_equal_those_of_the_prediction_rows_on_file() -> None:
    """There is one bar for x86 machines and one for all others."""
    filed = {line["bar"]: float(line["value"]) for line in load("bars")}
    values = prediction._bar_values(rows())
    assert len(values) == 3
    for bar, value in values:
        assert filed[bar.what] == pytest.approx(value, rel=1e-3)


def test_copied_latency_names_the_machine_it_comes_from_and_is_scaled_by_the_clock(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The 7950X's 15.7 ns at 5.7 GHz become 15.98 ns at the 7900X's 5.6 GHz."""
    monkeypatch.setattr(copied, "rules", lambda: {"x86 machine l3": Rule("scaled", 0.1)})
    machine = topology.load("r7900x")
    found = copied.copied("r7900x", machine, by_level(machine).classes)
    assert list(found) == ["ccx"]
    assert found["ccx"].machines == "r7950x"
    assert found["ccx"].belief.median == pytest.approx(15.7 * 5.7 / 5.6, rel=1e-3)
    assert found["ccx"].belief.deviation == pytest.approx(0.1, rel=1e-2)
