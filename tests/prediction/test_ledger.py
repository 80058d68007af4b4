"""Do recorded predictions stay unchanged, whatever the model predicts later?"""

from __future__ import annotations

import shutil
import statistics
from pathlib import Path

import pytest

from uncore import topology
from uncore.cli.app import main
from uncore.errors import UserError
from uncore_lab.figures import MACHINES
from uncore_lab.figures import hardware as figures
from uncore_lab.measure.record import load
from uncore_lab.predict import forecast
from uncore_lab.predict.ledger import LEDGER, RecordedPrediction, entries, read_day, record
from uncore_lab.validate import blind
from uncore_lab.validate.section import Request

SEALS = {
    "2026-11-21": "4127a96aa9d003aa",
    "2026-11-22": "6208d1b572fc8354",
    "2026-11-26": "b181c0d23378e945",
    "2026-11-28": "33f7d1771af0c521",
}  # seals of past days
AGAIN = (1.0, 2.0, 3.0)
FIGURES = MACHINES.parent


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Makes a writable ledger of one day, and a fixed commit hash."""
    shutil.copy(LEDGER / "2026-11-21.toml", tmp_path)
    since, _, _ = (LEDGER / "measured.toml").read_text().partition("[machines.x8570]")
    (tmp_path / "measured.toml").write_text(since)
    monkeypatch.setattr(record, "_commit", lambda: "c0ffee1")
    return tmp_path


# ---- recorded predictions are unchanged ----------------------------------------------------------


@pytest.mark.parametrize("day", SEALS)
def test_predictions_of_past_days_are_unchanged(day: str) -> None:
    assert read_day(LEDGER / f"{day}.toml").true_seal == SEALS[day]


def test_ledger_is_read_without_the_model_and_without_machine_files(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = [blind.section_of_day(day) for day in SEALS]

    def gone(*_: object, **__: object) -> None:
        raise AssertionError("the ledger asks nobody")

    for module, name in (
        (topology, "load"),
        (forecast, "observations"),
        (forecast, "forecast"),
        (figures, "read"),
    ):
        monkeypatch.setattr(module, name, gone)
    assert [blind.section_of_day(day) for day in SEALS] == before


@pytest.mark.parametrize(
    ("was", "now"),
    [
        ("[7.7, 8.5, 9.4]", "[7.7, 8.6, 9.4]"),
        ('"e8c8580"', '"e8c8581"'),
        ("[machines.epyc7702x2", "[machines.epyc7702x3"),
    ],
)
def test_a_changed_prediction_breaks_its_seal(mine: Path, was: str, now: str) -> None:
    page = mine / "2026-11-21.toml"
    assert was in page.read_text()
    page.write_text(page.read_text().replace(was, now))
    with pytest.raises(UserError, match="was changed after it was recorded"):
        entries(mine)


def test_measurement_of_a_class_that_was_not_predicted_is_refused(mine: Path) -> None:
    page = mine / "measured.toml"
    page.write_text(page.read_text().replace("module-small = 50.2", "module-tiny = 50.2"))
    with pytest.raises(UserError, match="i912900k has 'module-tiny'; expected one of core, module"):
        entries(mine)


# ---- recording a prediction ----------------------------------------------------------------------


def test_a_prediction_lies_inside_its_interval() -> None:
    for entry in entries():
        for low, ns, high in entry.predicted.classes.values():
            assert 1.04 * low < ns < high / 1.04


def test_a_prediction_is_recorded_as_it_is_printed(mine: Path) -> None:
    record.record(["epyc9374f"], ledger=mine, day="2031-01-01")
    (entry,) = (e for e in entries(mine) if e.date == "2031-01-01")
    printed, home = forecast.predicted("epyc9374f")
    assert (entry.machine, entry.predicted.commit, entry.predicted.home) == (
        "epyc9374f",
        "c0ffee1",
        home,
    )
    assert entry.predicted.classes == {
        label: pytest.approx((median.low, median.ns, median.high), abs=0.05)
        for label, median in printed.classes.items()
    }


def test_day_of_the_ledger_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    written = RecordedPrediction(
        "abc", {"core": (1.0, 2.0, 3.0), "die-home": (4.0, 5.5, 6.0)}, "node0", ["core"]
    )
    page = tmp_path / "2031-01-01.toml"
    machines = {"x": written, "y": RecordedPrediction("abc", {})}
    page.write_text(record.text("2031-01-01", machines, {"y": 'rule "C9"'}))
    day = read_day(page)
    assert (day.machines, day.reasons) == (machines, {"y": 'rule "C9"'})


def test_predictions_of_a_day_may_be_replaced_until_the_day_is_over(
    mine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    today = RecordedPrediction("a", {"core": (1.0, 2.0, 3.0)})
    again = RecordedPrediction("b", {"core": (2.0, 3.0, 4.0)})
    (mine / "2031-01-01.toml").write_text(record.text("2031-01-01", {"r7900xt": today}))
    monkeypatch.setattr(record, "_prediction", lambda name, commit, threads: again)
    record.record([], ledger=mine, day="2031-01-01")
    assert read_day(mine / "2031-01-01.toml").machines == {"r7900xt": again}
    with pytest.raises(UserError, match="on record since 2031-01-01, and what is on record stands"):
        record.record(["r7900xt"], ledger=mine, day="2031-01-02")
    with pytest.raises(UserError, match="nothing was recorded on 2031-01-02"):
        record.record([], ledger=mine, day="2031-01-02")


def test_second_prediction_of_a_machine_needs_a_reason_and_keeps_the_first(
    mine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        record,
        "_prediction",
        lambda name, commit, threads: RecordedPrediction("b", {"core": AGAIN}),
    )
    record.record(["r5900x", "r7900xt"], "rule C9", ledger=mine, day="2031-01-01")
    assert read_day(mine / "2031-01-01.toml").reasons == {"r5900x": "rule C9"}
    first, second = (entry for entry in entries(mine) if entry.machine == "r5900x")
    assert (first.date, second.date) == ("2026-11-21", "2031-01-01")
    assert first.scored and not second.scored  # the machine was measured before the second one
    record.record([], ledger=mine, day="2031-01-01")
    assert read_day(mine / "2031-01-01.toml").reasons == {"r5900x": "rule C9"}
    text = (mine / "2031-01-01.toml").read_text()
    (mine / "2031-01-01.toml").write_text(text.replace("rule C9", "rule C8"))
    with pytest.raises(UserError, match="was changed after it was recorded"):
        entries(mine)


def test_measured_machine_cannot_be_predicted_blind(mine: Path) -> None:
    with pytest.raises(UserError, match="tr1950x: it has been measured"):
        record.record(["tr1950x"], ledger=mine, day="2031-01-01")


# ---- Output --------------------------------------------------------------------------------------


def test_each_day_shows_every_machine_predicted_on_it() -> None:
    days = {entry.date for entry in entries()}
    shown = {
        (row["machine"], row["date"]) for day in days for row in blind.section_of_day(day).rows
    }
    assert shown == {(entry.machine, entry.date) for entry in entries()}


def test_blind_section_shows_later_measurements_next_to_predictions() -> None:
    rows = blind.run(Request()).rows
    assert {row["machine"] for row in rows} == {e.machine for e in entries() if e.measured}
    (row,) = (r for r in rows if (r["machine"], r["class"]) == ("w93475x", "socket"))
    assert (row["predicted_ns"], row["measured_ns"], row["inside"]) == (46.0, 55.3, False)
    assert row["error_pct"] == pytest.approx(-16.8, abs=0.1)
    held = {(r["date"], r["since"]) for r in blind.run(Request(("epyc7702x2",))).rows}
    first, *sealed_anew = (e.date for e in entries() if e.machine == "epyc7702x2")
    assert held == {(first, "2026-11-22, held back"), *((day, None) for day in sealed_anew)}
    assert first == "2026-11-21" and sealed_anew


def test_observe_and_record_together_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["predict", "--observe", "--record"])
    assert end.value.code == 2
    assert "one, then the other" in capsys.readouterr().err


def test_reason_without_a_record_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["predict", "r5900x", "--reason", "rule C9"])
    assert end.value.code == 2
    assert "write --record with it" in capsys.readouterr().err


# ---- Rates ---------------------------------------------------------------------------------------


def test_predicted_rates_are_part_of_the_seal_and_of_the_score(
    mine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record.record(["epyc74f3"], "rates", (1, 2), ledger=mine, day="2026-12-01")
    page = mine / "2026-12-01.toml"
    (entry,) = [e for e in entries(mine) if e.date == "2026-12-01"]
    assert entry.predicted.rates.threads == [1, 2]
    low, middle, high = entry.predicted.rates.millions["counter/atomic"][1]
    assert 0 < low <= middle <= high
    measured = mine / "measured.toml"
    whole = measured.read_text()
    since = f"""
[machines.epyc74f3]
date = "2026-12-02"
source = "a test"
classes = {{}}
rates = {{ "counter/atomic" = [1.0, {2 * middle}] }}
"""
    measured.write_text(whole + since)
    (entry,) = [e for e in entries(mine) if e.date == "2026-12-01"]
    rows = {row["class"]: row for row in blind._rows([entry])}
    assert rows["counter/atomic, 2"]["error_pct"] == pytest.approx(100, abs=0.1)  # twice the time
    measured.write_text(whole + since.replace("[1.0, ", "["))
    with pytest.raises(UserError, match="a rate for each count that is predicted"):
        entries(mine)
    page.write_text(page.read_text().replace("threads = [1, 2]", "threads = [1, 3]"))
    with pytest.raises(UserError, match="was changed after it was recorded"):
        read_day(page)


def test_measured_rates_in_the_ledger_are_medians_of_the_measurement_file() -> None:
    """The 8570 was measured after its prediction had been sealed."""
    (entry,) = (e for e in entries() if e.machine == "x8570")
    found = load(FIGURES / "measurements/x8570-guest.json")
    for workload, millions in entry.measured.rates.items():
        own = [p for p in found.throughput if p.workload == workload]
        assert [p.threads for p in own] == entry.predicted.rates.threads
        medians = [statistics.median(p.ops_per_second) / 1e6 for p in own]
        assert millions == pytest.approx(medians, abs=0.006)
    handoffs = [ns for row in found.handoffs.median_ns for ns in row]
    assert entry.measured.classes["socket"] == pytest.approx(statistics.median(handoffs), abs=0.05)
