"""Do claims mean what they say, and are their answers those on file?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace

import msgspec
import pytest

from uncore.errors import UserError
from uncore_lab import claims as asking
from uncore_lab.claims.amounts import Amounts, Curve
from uncore_lab.claims.claim import Claim, Run, claim
from uncore_lab.claims.collection import load, unasked
from uncore_lab.claims.verdict import judge
from uncore_lab.results import table

COUNTER = Run(machine="bus:4", workload="counter/atomic", threads="1,2,4", set={"ops": 20})
ALL = load()
QUICK = ("brk-peak", "free-local")


def asked(answer: Callable[..., float], **keys) -> Claim:
    """A claim that a function answers."""
    given = {
        "source": "a test",
        "figures": [],
        "expected": (1, 1e9),
        "unit": "x",
        "runs": {"run": COUNTER},
    }
    return claim("a counter slows down", **(given | keys))(answer)


def slower(run: Curve) -> float:
    return run.at(4).time / run.at(1).time


@dataclass(frozen=True)
class Foreseen:
    """Amounts of a point that has not been run: any number, but of tables that there will be."""

    threads: int
    tables: frozenset[str]

    def __getattr__(self, name: str) -> float:
        assert hasattr(Amounts, name)
        return float(self.threads**2)

    def fetched(self, *classes: str) -> float:
        return 1.0

    def cell(self, table: str, row: int, column: int) -> float:
        assert table in self.tables
        return 1.0 + row + column

    def typical(self, table: str, column: int | None = None) -> float:
        return self.cell(table, 0, column or 0)


@pytest.mark.parametrize("stated", ALL, ids=lambda stated: stated.id)
def test_every_claim_can_be_asked(stated):
    """Machines, workloads, parameters, thread counts, tables and amounts exist."""
    curves = {}
    for name, job in stated.jobs().items():
        tables = frozenset(table.name for table in job.program.tables)
        curves[name] = Curve({n: Foreseen(n, tables) for n in job.threads})
    assert stated.amount(curves) is not None
    assert stated.neutral is None or not stated.expected[0] <= stated.neutral <= stated.expected[1]


def test_answers_on_file_are_of_these_claims_and_give_these_verdicts():
    filed = {line["claim"]: line for line in table.load("claims")}
    rows = [judge(stated, float(filed[stated.id]["got"])) for stated in ALL]
    assert table.moved(asking.table(rows), whole=True) == []


@pytest.mark.parametrize("ids", [QUICK, pytest.param((), marks=pytest.mark.long)])
def test_claims_get_the_answers_on_file(ids):
    rows = asking.ask(load(ids), 1)
    assert table.moved(asking.table(rows), whole=not ids) == []


def test_every_figure_is_a_claim_or_has_a_reason_not_to_be():
    claimed = {number for stated in ALL for number in stated.figures}
    left = [number for figures, _, _ in unasked() for number in figures]
    assert sorted(claimed | set(left)) == list(range(1, 185))
    assert len(left) == len(set(left)) and not claimed & set(left)


def test_an_amount_is_the_number_that_the_run_gave():
    points = {p.threads: p for p in asking.execute([COUNTER.job()])[0].points}
    rates = {n: p.ops / p.elapsed_ps * 1e12 for n, p in points.items()}
    answers = {
        rates[2]: lambda run: run.at(2).throughput,
        4 * rates[1] / rates[4]: slower,
        1e9 / rates[4]: lambda run: run.at(4).interval,
        max(rates.values()): lambda run: run.best,
        max(rates, key=rates.get): lambda run: run.peak,
        min(n for n in rates if rates[n] >= 0.9 * max(rates.values())): lambda run: run.knee,
        sum(points[4].transfers.values()) / points[4].ops: lambda run: run.at(4).fetched(),
        points[4].latency.p99 / 1000: lambda run: run.at(4).p99,
        max(points[4].thread_ops) / min(points[4].thread_ops): lambda run: run.at(4).unfairness,
    }
    for value, answer in answers.items():
        (row,) = asking.ask([asked(answer)], 1)
        assert row.got == pytest.approx(value, rel=1e-6)
    assert asking.ask([asked(slower)], 1)[0].verdict == "reproduced"


def test_a_knee_is_the_least_thread_count_with_nine_tenths_of_the_best():
    rates = {1: 50.0, 2: 90.0, 4: 100.0, 8: 95.0}
    curve = Curve({n: SimpleNamespace(throughput=rate) for n, rate in rates.items()})
    assert (curve.peak, curve.knee) == (4, 2)


def test_times_of_a_table_are_in_ns():
    runs = {"pair": Run(machine="bus:2", workload="latency/pingpong", threads="2")}
    cell = asked(lambda pair: pair.point.cell("handoff", 0, 1), runs=runs)
    whole = asked(lambda pair: pair.point.typical("handoff"), runs=runs)
    table = asking.execute([runs["pair"].job()])[0].points[0].tables["handoff"]
    for row in asking.ask([cell, whole], 1):
        assert row.got == pytest.approx(table[0][1] / 1000)


@pytest.mark.parametrize(
    ("expected", "neutral", "fitted", "got", "verdict"),
    [
        ((10, 20), 1, [], 15, "reproduced"),
        ((10, 20), 1, [], 10, "reproduced"),
        ((10, 20), 1, [], 20, "reproduced"),
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
    stated = asked(slower, expected=expected, neutral=neutral, fitted=fitted)
    assert judge(stated, got).verdict == verdict


@pytest.mark.parametrize(
    "answer",
    [
        lambda run: run.at(8).time,  # it has 1, 2 and 4 threads
        lambda run: run.point.time,  # which?
        lambda run: run.at(4).cell("handoff", 0, 1),
    ],
)
def test_what_a_run_does_not_hold_is_no_answer(answer):
    with pytest.raises(UserError, match="has no value"):
        asking.ask([asked(answer)], 1)


def test_a_claim_names_runs_that_it_has():
    with pytest.raises(ValueError, match="Did you mean 'run'"):
        asked(lambda ran: ran.at(4).time)
    with pytest.raises(ValueError, match="from low to high"):
        asked(slower, expected=(2, 1))


def test_an_unknown_claim_is_the_user_s_mistake():
    with pytest.raises(UserError, match="Did you mean 'free-local'"):
        load(["fre-local"])


def test_a_claim_whose_run_fails_its_check_is_not_answered(monkeypatch):
    (result,) = asking.execute([COUNTER.job()])
    result.points[0] = msgspec.structs.replace(result.points[0], failures=["x.c:1: lost"])
    monkeypatch.setattr(asking, "execute", lambda *_: [result])
    (row,) = asking.ask([asked(slower)], 1)
    assert (row.verdict, row.got, row.reason) == ("not run", None, "x.c:1: lost")
