"""Is a design dropped only if its remaining runs cannot bring it onto the Pareto front?"""

from __future__ import annotations

import random
import shlex
from itertools import product
from math import inf
from pathlib import Path

import msgspec
import pytest

from uncore.cli import app as cli
from uncore.execution.execute import execute
from uncore.execution.request import make_job
from uncore.result import Point
from uncore.study.explore import Exploration, explore, race
from uncore.study.explore.candidate import Candidate, TriedDesign
from uncore.study.explore.formula import Constraint, Formula
from uncore.study.explore.plan import ExplorationPlan
from uncore.study.explore.search import DesignScore

EXAMPLE = Path(__file__).resolve().parents[2] / "docs/explore/chiplets.toml"
FILE = """
machine = "ccx:{4/cores}x{cores}"
threads = 4
maximise = ["mcs.throughput"]
minimise = ["area"]
constraints = ["latency <= 100"]
[choices]
cores = [1, 2, 4]
"system.join.latency" = { from = "20ns", to = "120ns", step = "20ns" }
[runs]
mcs = { workload = "lock/mcs", set = { ops = "10" } }
[figures]
latency = "system.join.latency"
area = "ccx * 3"
[search]
batch = 3
"""


def written(folder: Path, text: str) -> ExplorationPlan:
    (folder / "x.toml").write_text(text)
    return ExplorationPlan.read(folder / "x.toml")


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Exploration:
    return explore(written(tmp_path_factory.mktemp("race"), FILE))


def to_the_end(self: Candidate) -> bool:
    return bool(self.runs) and not self.refused


def test_front_of_the_example_equals_the_front_of_complete_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The plan is the shipped file, with fewer designs and threads."""
    text = EXAMPLE.read_text().replace("designs = 150", "designs = 40").replace("256", "32")
    plan = written(tmp_path, text.replace("[2, 4, 8, 16, 32, 64]", "[2, 4, 8, 16, 32]"))
    raced = explore(plan, 2)
    monkeypatch.setattr(Candidate, "may_continue", to_the_end)
    whole = explore(plan, 2)
    assert not any(tried.given_up for tried in whole.tried)
    assert raced.to_rows() != whole.to_rows()
    assert [tried.design for tried in raced.tried] == [tried.design for tried in whole.tried]
    assert [tried.known for tried in raced.front] == [tried.known for tried in whole.front]
    assert raced.results[0].result_hash == whole.results[0].result_hash
    made = [sum(t.rounds for t in exploration.tried) for exploration in (raced, whole)]
    assert made[0] < 0.9 * made[1]


def test_design_that_a_constraint_excludes_before_any_run_is_not_run(found: Exploration) -> None:
    outside = [tried for tried in found.tried if tried.known["latency"] == 120]
    assert len(outside) == 3
    for tried in outside:
        assert (tried.rounds, tried.given_up) == (0, "not latency <= 100")
        assert tried.known["area"] and not tried.allowed


def test_row_of_a_dropped_design_has_its_rival_its_runs_and_its_range(
    found: Exploration,
) -> None:
    rows = {row["design"]: row for row in found.to_rows()}
    beaten = [row for row in rows.values() if "is better" in row["given_up"]]
    assert beaten
    for row in beaten:
        better = rows[int(row["given_up"].split()[1])]
        assert row["rounds"] == 2 and better["rounds"] == 3
        assert better["area"] <= row["area"]
        assert better["mcs.throughput"] >= row["mcs.throughput_max"]
        assert row["mcs.throughput_min"] <= row["mcs.throughput"] <= row["mcs.throughput_max"]


def test_command_of_a_dropped_design_repeats_its_runs(
    found: Exploration, capsys: pytest.CaptureFixture[str]
) -> None:
    tried = next(tried for tried in found.tried if "is better" in tried.given_up)
    with pytest.raises(SystemExit):
        cli.main([*shlex.split(shlex.join(tried.words["mcs"]))[1:], "--json"])
    assert tried.results["mcs"].result_hash in capsys.readouterr().out


# ---- comparing one design with another


@pytest.fixture(scope="module")
def point(tmp_path_factory: pytest.TempPathFactory) -> Point:
    """Runs a design of two complexes, which has an area of 6."""
    plan = written(tmp_path_factory.mktemp("point"), FILE)
    _, job = next(plan.jobs({"cores": "2", "system.join.latency": "20ns"}))
    return execute([job])[0].points[0]


def goes_on(folder: Path, point: Point, rates: list[float], rival: tuple[float, float]) -> bool:
    """True if a design whose runs had these rates, in M/s, is run again. `rival` is the throughput
    and the area of another design.
    """
    design = {"cores": "2", "system.join.latency": "20ns"}
    better = TriedDesign(1, design, {}, found=DesignScore(rival, [0.0]))
    candidate = Candidate(written(folder, FILE), 2, design, [better])
    for rate in rates:
        made = msgspec.structs.replace(point, elapsed_ps=round(point.ops / rate * 1e6))
        candidate.runs["mcs"].add_outcome(made, {})
    return candidate.may_continue()


@pytest.mark.parametrize(
    ("rates", "rival", "on"),
    [
        ([2.0], (9.0, 6.0), True),  # the two remaining runs may be better
        ([2.0, 2.1], (2.2, 6.0), False),
        ([2.0, 2.3], (2.2, 6.0), True),  # the median may become 2.3
        ([2.0, 2.1], (2.2, 6.1), True),  # the design is smaller
        ([2.0, 2.0], (2.0, 6.0), True),  # the design may be equally good
    ],
)
def test_design_is_dropped_only_if_a_rival_beats_its_best_possible_values(
    tmp_path: Path, point: Point, rates: list[float], rival: tuple[float, float], on: bool
) -> None:
    assert goes_on(tmp_path, point, rates, rival) == on


@pytest.mark.parametrize("runs", [1, 2, 3, 4, 5, 9])
def test_first_runs_bound_the_median_of_all_runs(runs: int) -> None:
    draw = random.Random(runs)
    for _ in range(200):
        rates = [draw.choice((1.0, 2.0, draw.random() * 3)) for _ in range(runs)]
        final = sorted(rates)[(runs - 1) // 2]
        spans = [race.median(rates[:made], runs) for made in range(runs + 1)]
        assert all(low <= final <= high for low, high in spans)
        assert spans[0] == (0.0, inf) and spans[-1] == (final, final)


@pytest.mark.parametrize(
    "words",
    ["a + b * 2", "a - b", "a * b", "a / b", "-a", "min(a, b) - max(a, 3)", "a ** 2", "2 ** b",
     "a / (b - a)", "(a - b) ** 3"],
)  # fmt: skip
def test_a_span_contains_every_possible_value_of_a_formula(words: str) -> None:
    draw, formula = random.Random(words), Formula.read(words, "f:1")
    for _ in range(100):
        spans = {name: sorted((draw.uniform(-4, 5), draw.uniform(0.1, 5))) for name in "ab"}
        low, high = formula.span({name: (ends[0], ends[1]) for name, ends in spans.items()})
        for parts in product((0, 0.25, 0.7, 1), repeat=2):
            pairs = zip(spans.items(), parts, strict=True)
            values = {name: low_ + part * (high_ - low_) for (name, (low_, high_)), part in pairs}
            value = formula.value(values)
            assert low - 1e-9 <= value <= high + 1e-9


def test_unknown_values_have_an_unbounded_span() -> None:
    assert Formula.read("a + 1", "f:1").span({}) == (-inf, inf)
    assert Constraint.read("a <= 5", "f:1").least_excess({"a": (7.0, inf)}) == 2
    assert Constraint.read("a >= 5", "f:1").least_excess({"a": (7.0, inf)}) == -inf


SEARCHED = FILE.replace(', set = { ops = "10" }', "").replace('minimise = ["area"]\n', "")


def test_plan_without_a_run_length_gets_the_length_that_uncore_run_searches(tmp_path: Path) -> None:
    """A design's rate, and the command that repeats it, are those of `uncore run` by default."""
    exploration = explore(written(tmp_path, SEARCHED))
    best = exploration.front[0]
    result = best.results["mcs"]
    (estimate,) = result.estimated
    shape = f"ccx:{4 // int(best.design['cores'])}x{best.design['cores']}"
    given = {name: value for name, value in best.design.items() if "." in name}
    (alone,) = execute(
        [make_job(shape, "lock/mcs", [4], overrides=given, seeds=(1, 2, 3), within=None)]
    )
    assert (alone.result_hash, alone.estimated) == (result.result_hash, [estimate])
    assert [*best.words["mcs"]][-2:] == ["--within", "5%"]
    assert best.known["mcs.throughput"] == pytest.approx(estimate.throughput / 1e6, rel=0.05)
    assert best.is_complete and not best.given_up


def test_search_of_a_design_ends_if_a_constraint_excludes_it(tmp_path: Path) -> None:
    """A rate whose run length is searched has no bounds before the search ends, so the constraint
    is on another figure.
    """
    plan = written(tmp_path, SEARCHED)
    jobs = dict(plan.jobs({"cores": "2", "system.join.latency": "20ns"}))
    going = iter([True, False])
    runs = race.runs_of(jobs["mcs"], lambda: next(going))
    assert runs.span(lambda point: 1.0) == (0, inf) and not runs.is_complete
    (result,) = execute([jobs["mcs"]], plans=[runs])
    assert not runs.is_complete and runs.span(lambda point: 1.0) == (0, inf)
    assert result.points
