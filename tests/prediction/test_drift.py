"""Does the model still make each recorded prediction, or is the change recorded with a reason?"""

from __future__ import annotations

import pytest

from uncore_lab.predict import drift
from uncore_lab.predict.drift import Moved
from uncore_lab.predict.ledger import LedgerEntry, RecordedPrediction

WATCHED, MOVED = drift.watched(), drift.read_moved()
QUICK_MACHINES = (
    "e52697v3",
    "graviton3",
    "i99900k",
    "r5900x",
    "r7900x",
    "tr2990wx",
    "w93495x",
    "x8180",
)
ENTRY = LedgerEntry(
    "x", "2031-01-01", RecordedPrediction("abc", {"core": (9.0, 10.0, 11.0)}), None, None
)


@pytest.mark.parametrize(
    "name",
    [
        name if name in QUICK_MACHINES else pytest.param(name, marks=pytest.mark.long)
        for name in WATCHED
    ],
)
def test_predicted_medians_are_within_the_limit_of_those_on_record(name: str) -> None:
    entry = WATCHED[name]
    assert drift.drift(entry, drift.medians(entry), MOVED.get(name)) == []


def test_machines_of_the_quick_test_have_recorded_predictions() -> None:
    assert set(QUICK_MACHINES) <= set(WATCHED)


def test_machines_in_moved_toml_have_recorded_predictions() -> None:
    assert set(MOVED) <= set(WATCHED)


@pytest.mark.parametrize(
    ("today", "moved", "message"),
    [
        ({"core": 10.29}, {}, ""),
        ({"core": 10.31}, {}, "x core: 10.3 ns, expected 10.0 ns as sealed on 2031-01-01"),
        ({"core": 12.1}, {"core": 12.0}, ""),
        ({"core": 10.0}, {"core": 12.0}, "expected 12.0 ns as moved.toml says"),
        ({"core": 10.2}, {"core": 10.2}, "is as sealed on 2031-01-01; remove it"),
        ({}, {}, "x core: no such class, expected 10.0 ns"),
        ({"core": 10.0, "die": 30.0}, {}, "x die: 30.0 ns, expected no such class"),
        ({"core": 10.0}, {"die": 30.0}, "x has no class die on record"),
    ],
)
def test_class_whose_prediction_moved_beyond_the_limit_is_reported(
    today: dict[str, float], moved: dict[str, float], message: str
) -> None:
    words = "; ".join(drift.drift(ENTRY, today, Moved("2031-01-02", "a rule", moved)))
    assert message in words and bool(words) == bool(message)
