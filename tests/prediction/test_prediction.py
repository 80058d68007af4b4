"""Is a prediction made from relatives' numbers only, and is it more certain if these agree?"""

from __future__ import annotations

import json
from dataclasses import replace
from math import hypot, log
from pathlib import Path

import msgspec
import numpy as np
import pytest

from uncore import topology
from uncore.cli.app import main
from uncore.topology.lineage import nearness
from uncore_lab import predict as predicting
from uncore_lab.figures import hardware as figures
from uncore_lab.fitting import numbers
from uncore_lab.fitting.numbers import FreeNumber
from uncore_lab.fitting.solve import DERIVATIVE_STEP_LOG, Solution
from uncore_lab.predict import observe
from uncore_lab.predict.forecast import forecast
from uncore_lab.predict.ledger import entries
from uncore_lab.predict.mixture import Mixture
from uncore_lab.predict.observe import Observation, observations
from uncore_lab.predict.relatives import lend, spread
from uncore_lab.validate import prediction
from uncore_lab.validate.section import Request

HELD_BACK = [entry.machine for entry in entries() if entry.measured is None]

# numbers of parts that were never measured; the machine file states an interval for each
UNMEASURED_NUMBERS = """
    module.small.join.latency module.join.latency
    system.join.latency socket.join.dx socket.join.dy
""".split()

REFITTED_MACHINE = """
extends = "families/zen1"
name    = "AMD Ryzen 7 2700X, fitted to something else"
tree    = "die:1 ccx:2 core:4 thread:2"

[core]
clock   = { value = "4.3GHz", source = "AMD product page: boost" }
restart = { value = "70cy", source = "fitted" }
fence   = { value = "77cy", source = "InstLatx64: MFENCE on Zen+" }

[ccx.join]
inject = { value = "55cy", source = "fitted" }
eject  = { value = "55cy", source = "as inject" }
map    = '''
    2+u 0
    1   3
'''

[die.join]
latency = { value = "90ns", source = "fitted" }
"""


# ---- Independence --------------------------------------------------------------------------------


def test_a_machines_own_fitted_numbers_do_not_change_its_prediction(tmp_path: Path) -> None:
    other = tmp_path / "r2700x.toml"
    other.write_text(REFITTED_MACHINE)
    hardware, known = figures.read("r2700x"), others("r2700x")
    assert topology.load(other).core.restart > 2 * topology.load("r2700x").core.restart
    right, wrong = (forecast(name, hardware, known) for name in ("r2700x", str(other)))
    assert right.classes == wrong.classes
    assert right.loans == wrong.loans and right.guesses == wrong.guesses == []


def test_a_machines_own_figures_do_not_change_its_prediction(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    known = observations()
    before, _ = prediction.left_out("r2700x")
    strange = [
        msgspec.structs.replace(c, ns=10 * c.ns) for c in figures.read("r2700x").classes.values()
    ]
    tenfold = [
        replace(o, values={u: 10 * v for u, v in o.values.items()}) if o.machine == "r2700x" else o
        for o in known
    ]
    real = figures.read

    def read(name: str) -> figures.Hardware:
        own = real(name)
        wrong = dict(zip(own.classes, strange, strict=True)) if name == "r2700x" else own.classes
        return msgspec.structs.replace(own, classes=wrong)

    monkeypatch.setattr(prediction, "observations", lambda: tenfold)
    monkeypatch.setattr(figures, "read", read)
    after, _ = prediction.left_out("r2700x")
    for key in ("class", "predicted_ns", "low_ns", "high_ns"):
        assert [row[key] for row in after] == [row[key] for row in before]
    assert all(row["measured_ns"] > 5 * row["predicted_ns"] for row in after)


def others(name: str) -> list[Observation]:
    return [o for o in observations() if o.machine != name]


def test_machines_left_out_are_predicted_from_near_relatives_within_their_error_bounds() -> None:
    """Each of these machines has a near relative. `uncore validate --only prediction` compares all
    machines.
    """
    section = prediction.run(Request(("r2700x", "w2150b", "x8275clx2")))
    assert {row["machine"] for row in section.rows} == {"r2700x", "w2150b", "x8275clx2"}
    alone = [row for row in section.rows if row["left_out"] == "machine"]
    off = [abs(row["error_pct"]) for row in alone]
    # the class with the largest error is between sockets
    assert max(off) < 35 and sum(off) / len(off) < 8
    assert sum(row["inside"] for row in alone) >= 0.7 * len(alone)


# ---- Loans of relatives -------------------------------------------------------------------------


def number(unit: str = "ns") -> FreeNumber:
    return FreeNumber("core.atomic", 1.0, unit, "core.atomic", 1.0, ("x86", "a", "b"), ())


def seen(machine: str, descent: str, ns: float, ghz: float) -> Observation:
    units = {"ns": ns, "core": ns * ghz}
    return Observation(machine, "core.atomic", tuple(descent.split()), units)


def test_nearest_relatives_lend_their_median() -> None:
    known = [
        *(seen(f"near{i}", "x86 a b", ns, 3.0) for i, ns in enumerate((10.0, 11.0, 90.0))),
        *(seen(f"far{i}", "x86 a c", 50.0, 3.0) for i in range(5)),
    ]
    loan = lend(number(), {"ns": 1.0, "core": 0.25}, known)
    assert loan and loan.machines == ("near0", "near1", "near2")
    assert 10.0 < loan.value < 20.0 and loan.belief.interval(0.8)[1] > 90.0
    assert lend(number(), {"ns": 1.0, "core": 0.25}, [seen("odd", "arm n1", 9.0, 3.0)]) is None


def lent(borrower: FreeNumber, **ns: float) -> Mixture:
    """Lends a number from several generations of one line, each with one machine."""
    known = [seen(name, f"intel ring {name}", value, 3.0) for name, value in ns.items()]
    loan = lend(borrower, {"ns": 1.0, "core": 0.25}, known)
    assert loan
    return loan.belief


def test_a_vote_is_halved_by_each_year_between_two_generations() -> None:
    icelake = replace(number(), descent=("intel", "ring", "icelake"))
    belief = lent(icelake, tigerlake=20.0, haswell=10.0)
    # weights of lenders that are one year and six years away
    assert belief.weights == pytest.approx((32 / 33, 1 / 33))


def test_part_without_a_year_counts_as_newest() -> None:
    ignore_item_progress = replace(number(), descent=("intel", "ring", "ignore_item_progress"))
    belief = lent(ignore_item_progress, haswell=5.0, icelake=5.0, tigerlake=20.0)
    assert max(zip(belief.weights, belief.logarithms, strict=True))[1] == pytest.approx(log(20.0))
    low, high = belief.interval(0.8)
    # The median is nearest to the value of the latest generation.
    assert low < 5.0 and high > 20.0 and belief.median > 10.0


def test_machine_file_may_state_its_year() -> None:
    ignore_item_progress = replace(
        number(), descent=("intel", "ring", "ignore_item_progress"), year=2013
    )
    belief = lent(ignore_item_progress, haswell=5.0, tigerlake=20.0)
    assert belief.median == pytest.approx(5.0, rel=0.05)


def test_a_generation_has_one_vote_however_many_machines() -> None:
    borrower = replace(number(), descent=("x86", "a", "d"))
    known = [
        *(seen(f"b{i}", "x86 a b", 10.0, 3.0) for i in range(9)),
        seen("c", "x86 a c", 40.0, 3.0),
    ]
    loan = lend(borrower, {"ns": 1.0, "core": 0.25}, known)
    assert loan
    votes = np.reshape(loan.belief.weights, (-1, len(known))).sum(axis=0)  # over the units
    assert votes == pytest.approx([1 / 18] * 9 + [1 / 2])


def test_lone_lender_gives_a_wider_interval_to_a_distant_relative_than_to_a_near_one() -> None:
    """Other lines, which have pairs of two makes, show how much the makes differ."""
    periods, other = {"ns": 1.0, "core": 0.25}, replace(number(), descent=("arm", "cmn", "a"))
    known = [
        *(seen(f"m{i}", "x86 a b", 10.0 + i / 10, 3.0) for i in range(3)),
        *(seen(f"n{i}", "x86 a c", 20.0 + i / 10, 3.0) for i in range(3)),
        seen("lone", "arm cmn a", 10.0, 3.0),
    ]
    twin = lend(other, periods, known)
    cousin = lend(replace(other, descent=("arm", "cmn", "b")), periods, known)
    assert twin and cousin
    assert cousin.belief.deviation > 3 * twin.belief.deviation


def test_a_number_follows_the_clock_in_which_relatives_agree() -> None:
    known = [seen(f"m{ghz}", "x86 a b", 30.0 / ghz, ghz) for ghz in (2.0, 3.0, 4.0, 5.0)]
    assert spread("core.atomic", known).deviations["core"] < 1e-9
    loan = lend(number("ns"), {"ns": 1.0, "core": 0.4}, known)
    assert loan and loan.unit == "core" and loan.value == pytest.approx(12.0, rel=1e-3)


def test_a_lender_whose_figures_say_little_has_a_small_vote_and_a_wide_component() -> None:
    periods = {"ns": 1.0, "core": 0.25}
    known = [seen("sure", "x86 a b", 10.0, 3.0), seen("unsure", "x86 a b", 40.0, 3.0)]
    known[1] = replace(known[1], deviation=0.6)
    loan = lend(number(), periods, known)
    assert loan and loan.belief.weights == pytest.approx((1 / 1.64, 0.64 / 1.64))
    assert loan.belief.spreads[1] == pytest.approx(hypot(loan.belief.spreads[0], 0.6))


def test_differences_are_taken_from_numbers_that_figures_determine() -> None:
    known = [seen(f"m{i}", "x86 a b", 10.0, 3.0) for i in range(3)]
    loose = replace(seen("loose", "x86 a b", 80.0, 3.0), deviation=0.5)
    assert spread("core.atomic", [*known, loose]).deviations["ns"] == pytest.approx(0)


def test_siblings_are_lent_the_sum_of_an_atomic_and_a_restart() -> None:
    """Zen 3's tables say 7.5 cycles for an atomic, Zen 2's 17.7; handoffs of siblings say that the
    sums are within a fifth.
    """
    zen2, zen3 = (
        numbers.lendable_numbers_of(name)["core.restart"] for name in ("r3900x", "r5600x")
    )
    assert zen2.slot == zen3.slot == numbers.lendable_numbers_of("i713700kf")["core.atomic"].slot
    in_cycles = [
        one.value / numbers.clocks(name)["core"]
        for name, one in (("r3900x", zen2), ("r5600x", zen3))
    ]
    assert in_cycles[0] == pytest.approx(in_cycles[1], rel=0.2)
    assert zen3.summand_ns == pytest.approx(7.5 * numbers.clocks("r5600x")["core"], rel=1e-3)
    own = numbers.free_numbers_of("r5600x")["core.restart"]
    assert zen3.settings(zen3.value) == own.settings(own.value)
    assert zen3.settings(zen3.summand_ns / 2) == own.settings(0.0)


def test_loan_is_less_certain_if_relatives_disagree_or_are_distant() -> None:
    periods = {"ns": 1.0, "core": 0.25}
    agree = [seen(f"m{i}", "x86 a b", 10.0 + i / 100, 3.0) for i in range(4)]
    quarrel = [seen(f"m{i}", "x86 a b", 10.0 * 1.3**i, 3.0) for i in range(4)]
    distant = [seen(f"m{i}", f"x86 a c{i}", 10.0 * 1.3**i, 3.0) for i in range(4)]
    sure, unsure, farther = (lend(number(), periods, k) for k in (agree, quarrel, distant))
    assert sure and unsure and farther
    assert sure.belief.deviation < 0.5 * unsure.belief.deviation
    assert farther.belief.deviation >= unsure.belief.deviation


def test_distance_of_parts_decreases_with_the_first_words_that_they_share() -> None:
    assert nearness(("x86", "amd", "zen2"), ("x86", "amd", "zen3")) == 2
    assert nearness(("x86", "amd"), ("x86", "amd", "zen3")) == 2
    assert nearness(("arm",), ("x86", "arm")) == 0


# ---- contents of the files -----------------------------------------------------------------------


@pytest.mark.parametrize("name", ["r2700x", "w2150b"])
def test_fit_of_a_machine_gives_its_recorded_observations(name: str) -> None:
    """If this fails, the model or the figures have changed: run `uncore predict --observe`."""
    recorded = {o.slot: o.values for o in observations() if o.machine == name}
    free_numbers = numbers.lendable_numbers_of(name)
    for key, (ns, _) in observe.fitted(name).items():
        values = recorded[free_numbers[key].slot]
        assert values.get("ns", values.get("ratio")) == pytest.approx(ns, rel=0.03)


def test_fit_has_the_same_result_from_another_start() -> None:
    begin = numbers.lendable_numbers_of("r2700x")
    far = {key: replace(number, value=1.6 * number.value) for key, number in begin.items()}
    right, fitted = observe.fitted("r2700x", begin), observe.fitted("r2700x", far)
    values = {key: value for key, (value, _) in right.items()}
    assert {key: value for key, (value, _) in fitted.items()} == pytest.approx(values, rel=0.01)
    assert len(fitted) == 3


def test_observations_are_on_file_for_exactly_the_measured_machines() -> None:
    fitted = {name for name in figures.well_measured() if numbers.free_numbers_of(name)}
    assert {o.machine for o in observations()} <= fitted


def test_a_number_at_its_limit_is_no_observation(monkeypatch: pytest.MonkeyPatch) -> None:
    """The number's deviation is small, but without the limit the fit would change it further."""
    free_numbers = numbers.lendable_numbers_of("epyc7302x2")
    limits = np.array(numbers.highest(free_numbers)) - DERIVATIVE_STEP_LOG
    count = len(free_numbers)
    sure = Solution(
        [*free_numbers], np.where(np.isinf(limits), 0, limits), 9 * np.eye(count), limits, 0
    )
    monkeypatch.setattr(observe, "solve", lambda *_, **__: sure)
    assert free_numbers.keys() - observe.fitted("epyc7302x2").keys() == {
        "socket.join.control_ratio"
    }


def test_machine_measured_on_an_unknown_host_is_not_among_the_lenders() -> None:
    assert (
        figures.read("epyc7601x2").lends_nothing and "epyc7601x2" in figures.machines_with_figures()
    )
    assert "epyc7601x2" not in figures.well_measured()


@pytest.mark.parametrize("name", HELD_BACK)
def test_machine_predicted_blind_has_no_figures_and_a_lender_for_every_number(name: str) -> None:
    assert name not in figures.machines_with_figures()
    periods = numbers.clocks(name)
    for one in numbers.lendable_numbers_of(name).values():
        loan = lend(one, periods, observations())
        alone = one.key in UNMEASURED_NUMBERS
        assert (loan and loan.value > 0) or alone, one.key


def test_a_prediction_is_scored_with_a_users_matrix(tmp_path: Path) -> None:
    """The score uses class medians of the matrix, under the names of the machine's levels."""
    machine = topology.load("e52697v3")
    rows = [",".join("600.0" for _ in range(i)) for i in range(machine.harts)]
    (tmp_path / "mine.csv").write_text("\n".join(rows) + "\n")
    request = Request(("e52697v3",), matrix=tmp_path / "mine.csv")
    scored = prediction.run(request)
    assert {row["class"]: row["measured_ns"] for row in scored.rows} == {"core": 600, "socket": 600}
    assert not any(row["inside"] for row in scored.rows)


def test_rows_of_a_matrix_measured_with_smt_off_are_first_threads(tmp_path: Path) -> None:
    machine = topology.load("r2700x")  # CPUs 0 and 1 are siblings
    rows = [",".join(str(100 * a + b) for b in range(a)) for a in range(machine.cores)]
    (tmp_path / "mine.csv").write_text("\n".join(rows) + "\n")
    ns = figures.measured_matrix(tmp_path / "mine.csv", machine)
    assert ns[6, 4] == 302 and ns[14, 0] == 700
    assert np.count_nonzero(~np.isnan(ns)) == 8 * 7 // 2
    assert np.isnan(ns[1::2]).all()


# ---- The command ---------------------------------------------------------------------------------


def test_printed_intervals_contain_the_predicted_medians(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as end:
        main(["predict", "e52697v3", "--json"])
    assert end.value.code == 0
    printed = json.loads(capsys.readouterr().out)
    assert list(printed) == ["machine", "home", "share", "classes", "numbers", "guesses"]
    assert {c["name"] for c in printed["classes"]} == {"core", "socket"}
    for one in printed["classes"]:
        assert 1.1 * one["low"] < one["ns"] < one["high"] / 1.04
    assert all(n["machines"] and n["unit"] in ("ns", "core", "uncore") for n in printed["numbers"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["predict"], "expects one machine"),
        (["predict", "epyc7742x3"], "Did you mean 'epyc7742x2'"),
        (["validate", "--only", "prediction", "tr1950"], "Did you mean 'tr1950x'"),
    ],
)
def test_mistake_in_a_predict_or_validate_command_gives_a_message_and_status_2(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        main(arguments)
    assert end.value.code == 2
    assert message in capsys.readouterr().err


def test_predict_writes_a_machine_file_with_intervals(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "predicted.toml"
    assert predicting.main("r5950x", output=output) == 0
    assert "measured" in capsys.readouterr().out
    numbers = {n.key: n for n in topology.load(str(output)).numbers}
    latency = numbers["socket.join.latency"]
    low, high = (float(end.removesuffix("ns")) for end in latency.interval or ())
    assert low < float(latency.text.removesuffix("ns")) < high
    assert latency.source.startswith("predicted: the median of")
