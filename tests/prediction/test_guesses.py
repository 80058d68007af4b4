"""Does a number that was never measured get a deviation, and does the prediction report it?"""

from __future__ import annotations

from pathlib import Path

import pytest

from uncore import topology
from uncore.cli.app import main
from uncore.errors import UserError
from uncore_lab import predict as predicting
from uncore_lab.figures import hardware as figures
from uncore_lab.predict.forecast import forecast, predicted
from uncore_lab.predict.guesses import (
    ASSUMED,
    DEFAULT_DEVIATION,
    DEVIATION_BY_KIND,
    STATED,
    guesses,
    learnt_distribution,
)
from uncore_lab.predict.observe import Observation, observations

INJECT = """
extends = "r5950x"
name = "x"
[ccx.join]
inject = {{ value = "10cy", interval = ["2cy", "40cy"], source = "{}: nobody knows" }}
eject = {{ value = "10cy", source = "as inject" }}
"""
WIDE = 1.6  # ratio between the ends of an interval


def written(path: Path, text: str) -> str:
    path.write_text(text)
    return str(path)


def found(key: str, fitted: float) -> Observation:
    machine = key.partition(" ")[0]
    return Observation(machine, "x", ("x",), {"ns": fitted}, None, key.partition(" ")[2], fitted)


# ---- deviation of a guess ------------------------------------------------------------------------


def test_equal_intervals_of_an_estimate_and_a_predicted_number_give_equal_deviations(
    tmp_path: Path,
) -> None:
    files = [
        written(tmp_path / f"{word}.toml", INJECT.format(word))
        for word in ("estimate", "predicted")
    ]
    estimate, prediction = (predicted(file)[0] for file in files)
    assert [g.basis for g in estimate.guesses] == [g.basis for g in prediction.guesses] == [STATED]
    assert estimate.classes == prediction.classes
    known = predicted("r5950x")[0].classes["ccx"]
    wide = estimate.classes["ccx"]
    assert wide.high / wide.low > 1.2 * known.high / known.low


def test_ends_of_the_interval_that_a_file_states_are_deciles(tmp_path: Path) -> None:
    file = written(tmp_path / "estimate.toml", INJECT.format("estimate"))
    (guess,) = guesses(file, observations(), frozenset())[-1:]
    assert guess.factor.interval(0.8) == pytest.approx((0.2, 4.0), rel=1e-3)


def test_guess_without_an_interval_has_the_deviation_of_measured_estimates() -> None:
    """Three estimates were wrong by factors of e, e and 1/e: a deviation of 1."""
    e = 2.718281828
    known = [
        found("kunpeng920 die.join.inject", 8 * e),
        found("kunpeng920 socket.join.latency", 10 * e),
        found("e54650v2 socket.join.inject", 7.65 / e),
    ]
    factor, basis = learnt_distribution("wires", known)
    assert factor.deviation == pytest.approx(1.0, rel=1e-3)
    assert basis == "3 estimates of wires that were measured later"


def test_kind_with_too_few_measured_estimates_keeps_the_assumed_deviation() -> None:
    assert learnt_distribution("cores", [found("e54650v2 core.atomic", 60.7)])[1] == ASSUMED
    assert learnt_distribution("cores", [])[0].deviation == pytest.approx(
        DEFAULT_DEVIATION, rel=1e-3
    )
    assert learnt_distribution("clocks", [])[0].deviation == pytest.approx(
        DEVIATION_BY_KIND["clocks"], rel=1e-3
    )


def test_a_number_without_relatives_is_as_uncertain_as_its_file_states(tmp_path: Path) -> None:
    stated = """
extends = "ccx"
tree    = "ccx:2 core:2 thread:1"
ccx.join.latency = {{ value = "9ns", source = "predicted"{} }}
"""
    width = {}
    for name, interval in {"guess": "", "stated": ', interval = ["8ns", "10ns"]'}.items():
        file = written(tmp_path / f"{name}.toml", stated.format(interval))
        hardware = figures.by_level(topology.load(file))
        (guess,) = [g for g in guesses(file, [], frozenset()) if g.key == "ccx.join.latency"]
        width[name] = guess.factor.deviation
        assert "ccx" in forecast(file, hardware, []).classes
    assert width["stated"] < width["guess"]


# ---- numbers that are guesses --------------------------------------------------------------------


def test_estimate_shared_with_a_measured_machine_is_no_guess() -> None:
    keys = {guess.key for guess in guesses("e52620v4x2", observations(), frozenset())}
    assert "clocks.uncore" in keys  # a number of the machine's own file
    # a number of the family, of which other members were measured
    assert "socket.join.latency" not in keys


def test_estimates_of_a_machine_left_out_are_guesses_again() -> None:
    """Only the Kunpeng was measured with these estimates, so without it they are guesses."""
    known = [o for o in observations() if o.machine != "kunpeng920"]
    keys = {guess.key for guess in guesses("kunpeng920", known, frozenset())}
    assert {"cluster.join.latency", "die.join.latency"} <= keys


def test_fitted_number_without_a_lender_is_guessed_as_before_its_fit() -> None:
    known = [o for o in observations() if o.machine != "kunpeng920"]
    text = {guess.key: guess.text for guess in guesses("kunpeng920", known, frozenset())}
    assert (text["die.join.inject"], text["socket.join.latency"]) == ("8ns", "10ns")


# ---- Reports -------------------------------------------------------------------------------------


def test_report_on_a_new_machine_says_that_all_its_numbers_are_guesses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as end:
        main(["new", "machine", "x.toml"])
    assert end.value.code in (0, None)
    capsys.readouterr()
    assert predicting.main("x.toml") == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "all of it rests on guesses that nobody measured" in said
    assert "is given" not in said
    for one in predicted("x.toml")[0].classes.values():
        assert not one.lent
        assert one.high / one.low > WIDE or one.name == "core"


def test_prediction_of_a_file_is_reproducible() -> None:
    assert predicted("r5600x")[0].classes == predicted("r5600x")[0].classes


def test_an_interval_of_two_units_is_refused_with_its_line(tmp_path: Path) -> None:
    file = written(tmp_path / "odd.toml", INJECT.format("estimate").replace('"40cy"', '"8ns"'))
    with pytest.raises(UserError, match=r"odd.toml:5: 'ccx.join.inject': .* the unit of 10cy"):
        predicted(file)
