"""Does what was predicted stay as it was put on record, whatever the model says since?"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from uncore import topology
from uncore.cli.app import main
from uncore.errors import UserError
from uncore.support.paths import CHECKOUT
from uncore_lab.figures import hardware as figures
from uncore_lab.predict import forecast, ledger
from uncore_lab.predict.ledger import LEDGER, Prediction, entries, read_day, record
from uncore_lab.validate import blind
from uncore_lab.validate.section import Request

SEALS = {
    "2026-11-21": "4127a96aa9d003aa",
    "2026-11-22": "6208d1b572fc8354",
}  # of days that are over


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A ledger of one day to write into, at a commit that is called so."""
    for name in ("2026-11-21.toml", "measured.toml"):
        shutil.copy(LEDGER / name, tmp_path)
    monkeypatch.setattr(record, "_commit", lambda: "c0ffee1")
    return tmp_path


# ---- What is on record stands --------------------------------------------------------------------


@pytest.mark.parametrize("day", SEALS)
def test_a_day_that_is_over_says_what_it_said(day: str) -> None:
    assert ledger.seal(read_day(LEDGER / f"{day}.toml")) == SEALS[day]


def test_what_is_on_record_asks_neither_model_nor_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    before = blind.page()

    def gone(*_: object, **__: object) -> None:
        raise AssertionError("the ledger asks nobody")

    for module, name in (
        (topology, "load"),
        (forecast, "observations"),
        (forecast, "forecast"),
        (figures, "read"),
    ):
        monkeypatch.setattr(module, name, gone)
    assert blind.page() == before


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


def test_a_measurement_is_of_a_class_that_was_predicted(mine: Path) -> None:
    page = mine / "measured.toml"
    page.write_text(page.read_text().replace("module-small = 50.2", "module-tiny = 50.2"))
    with pytest.raises(UserError, match="i912900k has 'module-tiny'; expected one of core, module"):
        entries(mine)


# ---- What is put on record -----------------------------------------------------------------------


def test_a_prediction_lies_inside_its_interval() -> None:
    for entry in entries():
        for low, ns, high in entry.predicted.classes.values():
            assert 1.04 * low < ns < high / 1.04


def test_a_prediction_is_recorded_as_it_is_printed(mine: Path) -> None:
    record.record(["epyc9374f"], mine, "2031-01-01")
    (entry,) = (e for e in entries(mine) if e.date == "2031-01-01")
    found, home = forecast.predicted("epyc9374f")
    assert (entry.machine, entry.predicted.commit, entry.predicted.home) == (
        "epyc9374f",
        "c0ffee1",
        home,
    )
    assert entry.predicted.classes == {
        label: pytest.approx((one.low, one.ns, one.high), abs=0.05)
        for label, one in found.classes.items()
    }


def test_what_is_written_is_what_was_predicted(tmp_path: Path) -> None:
    told = Prediction(
        "abc", {"core": (1.0, 2.0, 3.0), "die-home": (4.0, 5.5, 6.0)}, "node0", ["core"]
    )
    page = tmp_path / "2031-01-01.toml"
    page.write_text(record.text("2031-01-01", {"x": told, "y": Prediction("abc", {})}))
    assert read_day(page) == {"x": told, "y": Prediction("abc", {})}


def test_a_day_may_be_written_anew_until_it_is_over(
    mine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    today = Prediction("a", {"core": (1.0, 2.0, 3.0)})
    again = Prediction("b", {"core": (2.0, 3.0, 4.0)})
    (mine / "2031-01-01.toml").write_text(record.text("2031-01-01", {"r7900xt": today}))
    monkeypatch.setattr(record, "_prediction", lambda name, commit: again)
    record.record([], mine, "2031-01-01")
    assert read_day(mine / "2031-01-01.toml") == {"r7900xt": again}
    with pytest.raises(UserError, match="on record since 2031-01-01, and what is on record stands"):
        record.record(["r7900xt"], mine, "2031-01-02")
    with pytest.raises(UserError, match="nothing was recorded on 2031-01-02"):
        record.record([], mine, "2031-01-02")


def test_what_was_measured_is_not_predicted_blind(mine: Path) -> None:
    with pytest.raises(UserError, match="tr1950x: it has been measured"):
        record.record(["tr1950x"], mine, "2031-01-01")


# ---- What is shown -------------------------------------------------------------------------------


def test_the_page_shows_every_machine_ever_predicted() -> None:
    """`uncore predict --record` renews it."""
    assert CHECKOUT
    assert (CHECKOUT / "docs/ledger.md").read_text() == blind.page()
    for entry in entries():
        assert f"| {entry.machine} | {entry.date} | {entry.predicted.commit} |" in blind.page()


def test_what_was_measured_since_stands_beside_what_was_predicted() -> None:
    rows = blind.run(Request()).rows
    assert {row["machine"] for row in rows} == {e.machine for e in entries() if e.measured}
    (row,) = (r for r in rows if (r["machine"], r["class"]) == ("w93475x", "socket"))
    assert (row["predicted_ns"], row["measured_ns"], row["inside"]) == (46.0, 55.3, False)
    assert row["error_pct"] == pytest.approx(-16.8, abs=0.1)
    (held,) = {r["since"] for r in blind.run(Request(("epyc7702x2",))).rows}
    assert held == "2026-11-22, held back"


def test_observing_and_recording_are_two_steps(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["predict", "--observe", "--record"])
    assert end.value.code == 2
    assert "one, then the other" in capsys.readouterr().err
