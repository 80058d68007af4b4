"""Do claims mean what they say, and does the page show what the files claim?"""

from __future__ import annotations

import msgspec
import pytest

from uncore.errors import UserError
from uncore.paths import CHECKOUT
from uncore_lab import claims as asking
from uncore_lab.claims.claim import CLAIMS, Claim, Run, load, unasked
from uncore_lab.claims.page import amount, stated
from uncore_lab.claims.quantity import Quantity
from uncore_lab.claims.verdict import judge

COUNTER = Run(machine="bus:4", workload="counter/atomic", threads="1,2,4", set={"ops": 20})
ALL = load()


def claim(**keys) -> Claim:
    given = {
        "claim": "a counter slows down",
        "source": "a test",
        "figures": [],
        "quantity": "time(run@4) / time(run@1)",
        "expected": (1.0, 1e9),
        "unit": "x",
        "runs": {"run": COUNTER},
        "id": "test",
    }
    return Claim(**(given | keys))


@pytest.mark.parametrize("one", ALL, ids=lambda one: one.id)
def test_every_claim_can_be_asked(one):
    """Machines, workloads, parameters, thread counts and the quantity's words exist."""
    assert one.jobs()
    assert one.neutral is None or not one.expected[0] <= one.neutral <= one.expected[1]


def test_the_page_shows_what_the_files_claim():
    page = stated((CHECKOUT / "docs/claims.md").read_text())
    assert page == {one.id: (one.claim, amount(one.expected, one.unit)) for one in ALL}


def test_every_figure_is_a_claim_or_has_a_reason_not_to_be():
    asked = {number for one in ALL for number in one.figures}
    left = [number for figures, _, _ in unasked() for number in figures]
    assert sorted(asked | set(left)) == list(range(1, 185))
    assert len(left) == len(set(left)) and not asked & set(left)


def test_a_quantity_is_the_number_that_the_runs_gave():
    one = claim()
    points = {p.threads: p for p in asking.execute([COUNTER.job()])[0].points}
    rates = {n: p.ops / p.elapsed_ps * 1e12 for n, p in points.items()}
    expressions = {
        "throughput(run@2)": rates[2],
        "time(run@4) / time(run@1)": 4 * rates[1] / rates[4],
        "2 * interval(run@4) - 1": 2e9 / rates[4] - 1,
        "best(run)": max(rates.values()),
        "peak(run)": max(rates, key=rates.get),
        "knee(run)": min(n for n in rates if rates[n] >= 0.9 * max(rates.values())),
        "fetched(run@4)": sum(points[4].transfers.values()) / points[4].ops,
        "median(1, min(4, 2), max(5, 7))": 2,
        "p99(run@4)": points[4].latency.p99 / 1000,
        "unfairness(run@4)": max(points[4].thread_ops) / min(points[4].thread_ops),
    }
    for text, value in expressions.items():
        (row,) = asking.ask([claim(quantity=text)], 1)
        assert row.got == pytest.approx(value, rel=1e-6), text
    assert asking.ask([one], 1)[0].verdict == "reproduced"


def test_times_of_a_table_are_in_ns():
    pair = Run(machine="bus:2", workload="latency/pingpong", threads="2")
    (row,) = asking.ask([claim(runs={"pair": pair}, quantity="cell(pair, 'handoff', 0, 1)")], 1)
    (whole,) = asking.ask([claim(runs={"pair": pair}, quantity="typical(pair, 'handoff')")], 1)
    table = asking.execute([pair.job()])[0].points[0].tables["handoff"]
    assert row.got == whole.got == table[0][1] / 1000


@pytest.mark.parametrize(
    ("expected", "neutral", "fitted", "got", "verdict"),
    [
        ((10, 20), 1, [], 15, "reproduced"),
        ((10, 20), 1, ["hold"], 15, "illustration"),
        ((10, 20), 1, [], 2.2, "same direction"),
        ((10, 20), 1, ["hold"], 2.2, "same direction"),
        ((10, 20), 1, [], 2.1, "not reproduced"),
        ((10, 20), 1, [], 7999, "same direction"),
        ((10, 20), 1, [], 8001, "not reproduced"),
        ((10, 20), 1, [], 0.9, "not reproduced"),
        ((0.3, 0.6), 1, [], 0.7, "same direction"),
        ((0.3, 0.6), 1, [], 0.03, "same direction"),
        ((0.3, 0.6), 1, [], 0.02, "not reproduced"),
        ((0.3, 0.6), 1, [], 1.0, "not reproduced"),
        ((0, 0.6), 1, [], 0.7, "same direction"),
        ((100, 200), None, [], 51, "same direction"),
        ((100, 200), None, [], 401, "not reproduced"),
        ((10, 20), 1, [], None, "not run"),
    ],
)
def test_the_verdict_follows_from_expected_and_got(expected, neutral, fitted, got, verdict):
    one = claim(expected=expected, neutral=neutral, fitted=fitted)
    assert judge(one, got).verdict == verdict


@pytest.mark.parametrize(
    ("quantity", "message"),
    [
        ("time(run@8)", "the run has 1, 2, 4"),
        ("time(run)", "a curve: write run@4"),
        ("peak(run@4)", "asked of a curve"),
        ("tine(run@4)", "Did you mean 'time'"),
        ("time(ran@4)", "Did you mean 'run'"),
        ("time(run@4", "cannot be read"),
        ("__import__('os')", "asks for '__import__'"),
        ("run@4", "where a number belongs"),
        ("time(1)", "where a run belongs"),
        ("median()", "of nothing"),
        ("'a' * 9", "where a number belongs"),
    ],
)
def test_a_wrong_quantity_is_refused_before_anything_runs(quantity, message):
    with pytest.raises(UserError, match=message.replace("(", r"\(")):
        Quantity(quantity).check({"run": (1, 2, 4)})


def test_a_wrong_file_is_named(monkeypatch, tmp_path):
    monkeypatch.setattr("uncore_lab.claims.claim.CLAIMS", tmp_path)
    (tmp_path / "odd.toml").write_text('claim = "x"\nclam = 1\n')
    with pytest.raises(UserError, match=r"odd\.toml: not a claim"):
        load(["odd"])
    with pytest.raises(UserError, match="Did you mean 'odd'"):
        load(["od"])


def test_a_claim_whose_run_fails_its_check_is_not_answered(monkeypatch):
    (result,) = asking.execute([COUNTER.job()])
    result.points[0] = msgspec.structs.replace(result.points[0], failures=["x.c:1: lost"])
    monkeypatch.setattr(asking, "execute", lambda *_: [result])
    (row,) = asking.ask([claim()], 1)
    assert (row.verdict, row.got, row.reason) == ("not run", None, "x.c:1: lost")


def test_claims_travel_with_the_package():
    assert CLAIMS.is_dir() and (CLAIMS.parent / "README.md").is_file()
