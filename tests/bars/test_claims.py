"""Can every claim be computed and judged, and do the answers equal those on file?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise, product
from types import SimpleNamespace

import msgspec
import pytest

from uncore.cli.commands import COMMANDS
from uncore.errors import UserError
from uncore.execution.request import make_job
from uncore.result import Point
from uncore.result.repeats import rate
from uncore_lab import claims as asking
from uncore_lab.claims import filed
from uncore_lab.claims.amounts import Amounts, Curve
from uncore_lab.claims.claim import Claim, Run, claim
from uncore_lab.claims.collection import Subject, figures, load, subjects, unasked
from uncore_lab.claims.ranges import about, because, exactly, figure, stated
from uncore_lab.claims.verdict import judged_row, verdict
from uncore_lab.claims.wording import over_seeds
from uncore_lab.claims.wording import verdict as worded
from uncore_lab.results import table

COUNTER = Run(machine="bus:4", workload="counter/atomic", threads="1,2,4", set={"ops": 20})
ALL_CLAIMS = load()
QUICK_CLAIMS = ("brk-peak", "free-local")


def claim_answered_by(answer: Callable[..., float], **keys) -> Claim:
    """Returns a claim whose answer is computed by the function `answer`."""
    defaults = {
        "source": "a test",
        "figures": [],
        "expected": stated(0, 1e12),
        "unit": "x",
        "runs": {"run": COUNTER},
    }
    return claim("a counter slows down", **(defaults | keys))(answer)


def slower(run: Curve) -> float:
    return run.at(4).time / run.at(1).time


@dataclass(frozen=True)
class FakeAmounts:
    """Stands for the Amounts of a point without a run. The figures are arbitrary, but only tables
    that the program has can be read.
    """

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


@pytest.mark.parametrize("each", ALL_CLAIMS, ids=lambda each: each.id)
def test_machines_workloads_and_amounts_of_every_claim_exist(each):
    """Every machine, workload, parameter, thread count, table and amount that a claim
    names exists.
    """
    curves = {}
    for name, job in each.jobs().items():
        tables = frozenset(table.name for table in job.program.tables)
        curves[name] = Curve({n: FakeAmounts(n, tables) for n in job.threads})
    assert each.amount(curves) is not None
    low, high = each.expected.ends
    assert each.neutral is None or not low <= each.neutral <= high


def test_each_claim_on_file_has_an_answer_and_the_verdict_that_follows_from_it():
    assert [line["claim"] for line in table.load("claims")] == [each.id for each in ALL_CLAIMS]
    for each, row in zip(ALL_CLAIMS, filed.rows(ALL_CLAIMS), strict=True):
        assert verdict(each, row.got) == row.verdict
        assert row.got_min <= row.got <= row.got_max
        assert 1 <= row.agree <= row.seeds
    assert table.differences(filed.table(filed.rows(ALL_CLAIMS)), whole=True) == []


def test_renewing_some_claims_keeps_the_answers_of_other_claims():
    (row,) = filed.rows(load(["brk-peak"]))
    other = msgspec.structs.replace(row, got=row.got + 1)
    before = table.load(filed.TABLE_NAME)
    renewed = filed.table([other], keep_others=True).lines
    assert [key for (key,) in renewed] == [line["claim"] for line in before]
    differ = [line["claim"] for line in before if line != renewed[line["claim"],]]
    assert differ == ["brk-peak"]


@pytest.mark.parametrize("ids", [QUICK_CLAIMS, pytest.param((), marks=pytest.mark.long)])
def test_computed_answers_of_claims_equal_those_on_file(ids):
    rows = asking.ask(load(ids), 1)
    assert table.differences(filed.table(rows), whole=not ids) == []


def test_every_figure_of_the_articles_is_checked_by_a_claim_or_has_a_reason():
    claimed = {number for each in ALL_CLAIMS for number in each.figures}
    left = [number for numbers, _, _ in unasked() for number in numbers]
    assert sorted(claimed | set(left)) == list(figures())
    assert len(left) == len(set(left)) and not claimed & set(left)


def test_claim_cites_figures_of_its_own_article():
    known = figures()
    assert list(known) == list(range(1, len(known) + 1))
    assert all(
        each.article and each.where and each.quantity and each.value for each in known.values()
    )
    for each in ALL_CLAIMS:
        articles = {known[number].article for number in each.figures}
        assert len(articles) <= 1 and all(map(each.source.startswith, articles)), each.id


def test_every_subject_of_the_articles_has_a_verdict():
    known, left = (
        {each.id for each in ALL_CLAIMS},
        {n for numbers, _, _ in unasked() for n in numbers},
    )
    assert [int(each.row) for each in subjects()] == list(range(1, 120))
    for each in subjects():
        given = [each.claims, each.unasked, each.verdict]
        assert sum(map(bool, given)) == 1, each
        assert set(each.claims.split()) <= known and int(each.unasked or min(left)) in left, each
        assert each.verdict in ("", "runs", "nominal", "missing"), each
        assert bool(each.command) == (each.verdict in ("runs", "nominal")), each
        assert each.note or each.verdict not in ("nominal", "missing"), each


@pytest.mark.parametrize(
    "each", [each for each in subjects() if each.command], ids=lambda each: each.row
)
def test_claims_command_accepts_a_subject(each: Subject):
    """Checks that the subject's machine, workload and parameters exist, by making a job of them."""
    command, machine, *words = each.command.split()
    options = dict(pairwise(words))
    assert command in COMMANDS
    for name in [word for word in words if "/" in word] or ["lock/empty"]:
        chosen = (after.split("=") for word, after in pairwise(words) if word == "--set")
        parameters = {key: values.split(",") for key, values in chosen}
        for values in product(*parameters.values()):
            make_job(
                machine,
                name,
                options.get("--threads", "1"),
                parameters=dict(zip(parameters, values, strict=True)),
                placement=options.get("--place", "compact"),
            )


def test_a_subject_has_the_worst_verdict_of_its_claims():
    found = {row["row"]: row["verdict"] for row in filed.subject_rows()}
    answered = {row.id: row.verdict for row in filed.rows(ALL_CLAIMS)}
    for each in subjects():
        own = {answered[name] for name in each.claims.split()}
        assert not own or found[each.row] in own
        assert "not reproduced" not in own or found[each.row] == "not reproduced"
        assert own != {"reproduced"} or found[each.row] == "reproduced"


def test_answer_to_a_claim_is_the_median_over_its_seeds():
    runs = [
        {p.threads: p for p in asking.execute([replace(COUNTER.job(), seeds=(seed,))])[0].points}
        for seed in COUNTER.job().seeds
    ]
    answers: list[tuple[Callable[[dict[int, Point]], float], Callable[[Curve], float]]] = [
        (lambda p: rate(p[2]), lambda run: run.at(2).throughput),
        (lambda p: 4 * rate(p[1]) / rate(p[4]), slower),
        (lambda p: 1e9 / rate(p[4]), lambda run: run.at(4).interval),
        (lambda p: max(map(rate, p.values())), lambda run: run.best),
        (lambda p: max(p, key=lambda n: rate(p[n])), lambda run: run.peak),
        (lambda p: sum(p[4].transfers.values()) / p[4].ops, lambda run: run.at(4).fetched()),
        (lambda p: p[4].latency.p99 / 1000, lambda run: run.at(4).p99),
        (lambda p: max(p[4].thread_ops) / min(p[4].thread_ops), lambda run: run.at(4).unfairness),
    ]
    rows = asking.ask([claim_answered_by(answer) for _, answer in answers], 1)
    for (want, _), row in zip(answers, rows, strict=True):
        given = sorted(want(run) for run in runs)
        assert [row.got_min, row.got, row.got_max] == pytest.approx(given, rel=1e-6)
        assert (row.seeds, row.agree) == (3, 3)
    assert rows[1].verdict == "reproduced" and rows[1].got_min < rows[1].got_max


def test_sides_of_a_comparison_have_common_seeds():
    """A search may give one run more seeds than the other. In this case only common seeds count."""
    few, many = (
        asking.execute([replace(COUNTER.job(), seeds=seeds)])[0] for seeds in ((2, 3), (1, 2, 3))
    )
    curves = {"few": Curve.of(few, {}), "many": Curve.of(many, {})}
    assert [each["few"].at(4).result.seed for each in asking._by_seed(curves)] == [2, 3]
    assert all(each["few"] == each["many"] for each in asking._by_seed(curves))


def test_throughput_of_a_searched_run_is_that_of_its_steady_state():
    job = replace(COUNTER.job().given({}), within=200_000, threads=(1, 2))
    (result,) = asking.execute([job])
    curves = Curve.of(result, {})
    points = [point for point in result.points if point.threads == 2 and point.seed in curves]
    found = [curve.at(2).throughput for curve in curves.values()]
    assert found == [rate(point) for point in points] and len(found) > 1
    assert all(point.steady for point in points)
    assert found[-1] != points[-1].ops / points[-1].elapsed_ps * 1e12


def test_a_knee_is_the_least_thread_count_with_nine_tenths_of_the_best():
    rates = {1: 50.0, 2: 90.0, 4: 100.0, 8: 95.0}
    curve = Curve({n: SimpleNamespace(throughput=rate) for n, rate in rates.items()})
    assert (curve.peak, curve.knee) == (4, 2)


def test_claims_read_times_of_a_table_in_ns():
    runs = {"pair": Run(machine="bus:2", workload="latency/pingpong", threads="2")}
    cell = claim_answered_by(lambda pair: pair.point.cell("handoff", 0, 1), runs=runs)
    whole = claim_answered_by(lambda pair: pair.point.typical("handoff"), runs=runs)
    points = asking.execute([runs["pair"].job()])[0].points
    times = sorted(point.tables["handoff"][0][1] / 1000 for point in points)
    for row in asking.ask([cell, whole], 1):
        assert [row.got_min, row.got, row.got_max] == pytest.approx(times)


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
def test_verdict_follows_from_the_expected_range_and_the_answer(
    expected, neutral, fitted, got, verdict
):
    each = claim_answered_by(slower, expected=stated(*expected), neutral=neutral, fitted=fitted)
    row = judged_row(each, [] if got is None else [got])
    assert (row.verdict, row.got, row.agree) == (verdict, got, row.seeds)


@pytest.mark.parametrize(
    ("answers", "got", "agree", "words"),
    [
        ([12, 15, 19], 15, 3, "reproduced"),
        ([25, 15, 19], 19, 2, "reproduced, 2 of 3 seeds"),
        ([25, 15, 26], 25, 2, "same direction, 2 of 3 seeds"),
        ([25, 15], 15, 1, "reproduced, 1 of 2 seeds"),
        ([0.9, 15, 8001], 15, 1, "reproduced, 1 of 3 seeds"),
    ],
)
def test_verdict_shows_how_many_seeds_agree_with_it(answers, got, agree, words):
    row = judged_row(claim_answered_by(slower, expected=stated(10, 20), neutral=1), answers)
    assert (row.got, row.agree, worded(row)) == (got, agree, words)
    assert (row.got_min, row.got_max) == (min(answers), max(answers))


def test_answers_over_seeds_are_shown_from_least_to_greatest():
    assert over_seeds(judged_row(claim_answered_by(slower), [25, 15, 19])) == "15 to 25 x"
    assert over_seeds(judged_row(claim_answered_by(slower), [15, 15, 15])) == "-"


def test_width_of_an_expected_range_follows_from_its_kind():
    assert figure(40).ends == (36, 44) and about(50).ends == (40, 60)
    assert exactly(4).ends == (4, 4) and stated(2, 3).ends == (2, 3)
    assert because(0, 0.1, "none in ten").why == "none in ten"
    with pytest.raises(ValueError, match="from low to high"):
        stated(2, 1)


@pytest.mark.parametrize(
    "answer",
    [
        lambda run: run.at(8).time,  # the run has only 1, 2 and 4 threads
        lambda run: run.point.time,  # the run has three points
        lambda run: run.at(4).cell("handoff", 0, 1),
    ],
)
def test_value_missing_from_a_run_gives_no_answer(answer):
    with pytest.raises(UserError, match="has no value"):
        asking.ask([claim_answered_by(answer)], 1)


def test_claim_that_names_an_unknown_run_is_refused():
    with pytest.raises(ValueError, match="Did you mean 'run'"):
        claim_answered_by(lambda ran: ran.at(4).time)


def test_unknown_claim_is_refused_with_the_nearest_name():
    with pytest.raises(UserError, match="Did you mean 'free-local'"):
        load(["fre-local"])


def test_a_claim_whose_run_fails_its_check_is_not_answered(monkeypatch):
    (result,) = asking.execute([COUNTER.job()])
    result.points[0] = msgspec.structs.replace(result.points[0], failures=["x.c:1: lost"])
    monkeypatch.setattr(asking, "execute", lambda *_: [result])
    (row,) = asking.ask([claim_answered_by(slower)], 1)
    assert (row.verdict, row.got, row.reason) == ("not run", None, "x.c:1: lost")
