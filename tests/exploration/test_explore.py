"""Does an exploration find the best compromises, and report errors of its file?"""

from __future__ import annotations

import json
import shlex
from itertools import product
from pathlib import Path

import pytest

from uncore import engine
from uncore.cli import app as cli
from uncore.drawing.plot import picture
from uncore.errors import GuestError, UserError
from uncore.execution import saved_points as store
from uncore.execution.execute import execute
from uncore.execution.request import make_job
from uncore.execution.saved_points import Store
from uncore.study.explore import Exploration, explore, report
from uncore.study.explore.figures import of_machine
from uncore.study.explore.formula import Constraint, Formula, Template
from uncore.study.explore.plan import ExplorationPlan
from uncore.study.explore.search import AllDesigns, DesignScore, Sampler, searcher
from uncore.support.paths import CHECKOUT

FILE = """
machine = "ccx:{4/cores}x{cores}"
threads = 4
repeat = 1
maximise = ["mcs.throughput"]
minimise = ["area"]
constraints = ["cores <= 2", "mcs.p99 <= 100"]
[choices]
cores = [1, 2, 4]
"system.join.latency" = { from = "20ns", to = "60ns", step = "40ns" }
[runs]
mcs = { workload = "lock/mcs", set = { ops = "10" } }
[figures]
area = "ccx * 3 + 40 / system.join.latency"
[prices]
lines = { memory = 5 }
messages = { system = 2 }
bits = { ccx = 0.01 }
"""


@pytest.fixture
def plan(tmp_path) -> ExplorationPlan:
    return written(tmp_path, FILE)


def written(folder: Path, text: str) -> ExplorationPlan:
    (folder / "x.toml").write_text(text)
    return ExplorationPlan.read(folder / "x.toml")


@pytest.fixture(scope="module")
def found(tmp_path_factory) -> Exploration:
    return explore(written(tmp_path_factory.mktemp("one"), FILE))


def test_all_designs_are_tried_if_they_are_few(found):
    designs = [tuple(design.design.values()) for design in found.tried]
    assert designs == list(product("124", ("20ns", "60ns")))


def test_no_allowed_design_dominates_the_front_and_the_front_dominates_all_others(found):
    front = {design.number for design in found.front}
    allowed = [design for design in found.tried if design.allowed]
    assert front and {design.known["cores"] for design in allowed} == {1.0, 2.0}
    for design in allowed:
        throughput, area = design.found.objectives
        beaten = any(
            t >= throughput and a <= area and (t, a) != (throughput, area)
            for t, a in (other.found.objectives for other in allowed)
        )
        assert beaten == (design.number not in front)


def test_formulas_count_the_parts_of_the_machine(found):
    design = found.tried[0]
    assert design.known["area"] == 4 * 3 + 40 / 20
    assert (design.known["ccx"], design.known["core"]) == (4, 4)


def test_formulas_of_wire_and_bisection_are_evaluated_without_a_run(tmp_path):
    text = FILE.replace('"mcs.p99 <= 100"', '"bisection <= 32"').replace("ccx * 3", "wire")
    singles, _, pairs, _, *_ = explore(written(tmp_path, text)).tried
    assert singles.given_up == "not bisection <= 32" and not singles.rounds
    assert (pairs.known["ccx.links"], pairs.known["ccx.length"]) == (8, 4)
    assert (pairs.known["links"], pairs.known["bisection"]) == (8 + 4, 32)
    assert pairs.known["area"] == pairs.known["wire"] + 2 == 4 * 96 + 2 * 32 + 40 / 20


def test_energy_is_the_sum_of_lines_messages_and_bits_times_their_prices(found):
    design = found.tried[2]
    job = next(job for _, job in found.plan.jobs(design.design))
    seen = []
    watched = {"observers": frozenset({"traffic"}), "seen": lambda job, saw: seen.append(saw)}
    (result,) = execute([job], **watched)
    point, traffic = result.points[0], seen[0]["traffic"]
    bits = traffic["ccx"][0] * 16 * 8 + traffic["ccx"][1] * 80 * 8
    cost = 5 * point.transfers["memory"] + 2 * sum(traffic["system"]) + 0.01 * bits
    assert design.known["mcs.energy"] == pytest.approx(cost / point.ops)


@pytest.mark.parametrize("machine", ["ring:4", "ccx:2x4", "bus:4"])
def test_both_engines_count_the_same_messages(machine):
    seen = []
    for name in ("native", "reference"):
        job = make_job(machine, "lock/mcs", 4, engine=name, parameters={"ops": 10}, seeds=(3,))
        observers = frozenset({"traffic"})
        execute([job], observers=observers, seen=lambda job, saw: seen.append(saw["traffic"]))
    assert seen[0] == seen[1] and all(min(counts) > 0 for counts in seen[0].values())


def test_printed_command_of_a_design_repeats_its_run(found, monkeypatch, capsys):
    design = found.front[0]
    with pytest.raises(SystemExit):
        cli.main([*shlex.split(found.to_rows()[design.number - 1]["runs"][0])[1:], "--json"])
    (row,) = json.loads(capsys.readouterr().out)
    assert row["result_hash"] == design.results["mcs"].result_hash


def test_designs_and_outcomes_do_not_depend_on_the_workers(found, plan):
    assert explore(plan, 2).to_rows() == found.to_rows()


def test_finished_runs_of_a_design_are_reused(plan, monkeypatch, tmp_path, found):
    store_ = Store(tmp_path / "points")
    explore(plan, store=store_)
    monkeypatch.setattr(engine, "run", lambda *_: pytest.fail("it was run again"))
    assert explore(plan, store=store_, resume=True).to_rows() == found.to_rows()


def test_an_interrupted_search_prints_its_finished_designs(plan, monkeypatch):
    run, runs = engine.run, []

    def stopping(*given):
        runs.append(given)
        if len(runs) > 3:
            raise KeyboardInterrupt
        return run(*given)

    monkeypatch.setattr(engine, "run", stopping)
    text = FILE.replace("[choices]", "[search]\nbatch = 2\n[choices]")
    cut = explore(written(plan.written.file.parent, text))
    assert cut.interrupted and len(cut.tried) == 2 and cut.front


def test_impossible_design_does_not_end_the_search(tmp_path):
    text = FILE.replace("cores = [1, 2, 4]", "cores = [2, 3]")
    tried = explore(written(tmp_path, text)).tried
    assert [bool(design.refused) for design in tried] == [False, False, True, True]
    assert "ccx:1.333333333x3" in tried[2].refused


def test_design_whose_program_fails_is_left_out(plan, monkeypatch):
    run = engine.run

    def failing(job, *given):
        if job.machine.id == "ccx:2x2":
            raise GuestError("it never ends")
        return run(job, *given)

    monkeypatch.setattr(engine, "run", failing)
    refused = {design.design["cores"]: design.refused for design in explore(plan).tried}
    assert refused == {"1": "", "2": "it never ends", "4": ""}


MANY_DESIGNS_FILE = FILE.replace('to = "60ns", step = "40ns" }', 'to = "90ns" }')


def asked_designs(seed: int, tmp_path: Path, designs: int = 40) -> list[tuple[float, float]]:
    """Returns the cores and the latency of the designs that a search tries if its goal is 30 ns and
    at most two cores.
    """
    search = f"[search]\nseed = {seed}\ndesigns = {designs}\n[choices]"
    plan = written(tmp_path, MANY_DESIGNS_FILE.replace("[choices]", search))
    asks, sampler = [], searcher(plan)
    assert isinstance(sampler, Sampler)
    while len(asks) < designs:
        for design in sampler.ask(8):
            values = plan.known(design)
            cores, latency = values["cores"], values["system.join.latency"]
            asks.append((cores, latency))
            sampler.tell(design, DesignScore([-abs(latency - 30), 1.0], [cores - 2, 0.0]))
    return asks


def test_search_is_determined_by_its_seed(tmp_path):
    assert asked_designs(1, tmp_path) == asked_designs(1, tmp_path)
    assert asked_designs(1, tmp_path) != asked_designs(2, tmp_path)


def test_late_designs_of_a_search_are_nearer_the_best_than_early_ones_and_keep_the_bounds_better(
    tmp_path,
):
    asks = asked_designs(3, tmp_path, 64)
    early, late = asks[:16], asks[-16:]
    assert len(set(asks)) == len(asks)
    assert sum(abs(ns - 30) for _, ns in late) < 0.5 * sum(abs(ns - 30) for _, ns in early)
    assert sum(cores > 2 for cores, _ in late) <= sum(cores > 2 for cores, _ in early)


def test_plan_with_few_designs_gets_the_searcher_that_tries_all_of_them(plan):
    assert isinstance(searcher(plan), AllDesigns)


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("threads = 4", "threads = 0", "x.toml:3: 'threads': Expected `int` >= 1"),
        ("threads = 4", "thread = 4", "x.toml:3: 'thread': no such key. Did you mean 'threads'?"),
        ("ops =", "opps =", r"x.toml:12: .*opps"),
        ("lock/mcs", "lock/msc", "x.toml:12: .*Did you mean 'lock/mcs'"),
        ('set = {', 'sett = {', r"x.toml:12: 'runs.mcs.sett': no such key. Did you mean 'set'"),
        ("cores = [1, 2, 4]", "cores = []", "x.toml:9: 'choices.cores': Expected `array`"),
        ('"system.join.latency"', "system.join.latency", "x.toml:10: .*stands in quotes"),
        ('to = "60ns"', 'to = "60cy"', "x.toml:10: 20ns to 60cy: expected two quantities"),
        ("ccx * 3", "ccx * open(3)", "x.toml:14: 'ccx .*': expected a formula"),
        ("ccx * 3", "ccc * 3", "x.toml:14: .* nothing is called 'ccc'. Did you mean 'ccx'"),
        ('"area"]', '"aera"]', "x.toml:6: 'aera': nothing is called 'aera'. Did you mean 'area'"),
        ("cores <= 2", "cores < 2", "x.toml:7: 'cores < 2': expected a bound"),
        ("memory = 5", "memroy = 5", "x.toml:16: 'memroy': no lines are counted so. Did you mean"),
        ("cores = [1, 2, 4]", 'cores = [1, 2]\ncorse = [1]', "x.toml:10: 'corse' decides nothing"),
        ('"system.join', '"sytem.join', r"the first: .*sytem.*Did you mean"),
        ("[runs]", "[runs", "x.toml: broken TOML"),
        ('maximise = ["mcs.throughput"]\nminimise = ["area"]', "", "x.toml: nothing to look for"),
    ],
)  # fmt: skip
def test_mistake_is_reported_with_its_line(tmp_path, monkeypatch, before, after, said):
    assert FILE.count(before) >= 1
    monkeypatch.chdir(tmp_path)
    Path("x.toml").write_text(FILE.replace(before, after, 1))
    with pytest.raises(UserError, match=said):
        explore(ExplorationPlan.read(Path("x.toml")))


@pytest.mark.parametrize(
    ("words", "value"),
    [("2 + 3 * x", 14), ("-(x - 1) ** 2", -9), ("min(x, a.b) / 2", 1), ("max(1, 2, x)", 4)],
)
def test_formula_has_its_arithmetic_value(words, value):
    assert Formula.read(words, "f:1").value({"x": 4.0, "a.b": 2.0}) == value


@pytest.mark.parametrize(
    "words",
    ["x.__class__()", "[x]", "x if x else x", "'a'", "lambda: 1", "x << 2", "", "f(x)", "(x)(2)",
     "min(key=x)", "True", "1j", "x" * 401, "(" * 200 + ")" * 200],
)  # fmt: skip
def test_formula_that_is_no_arithmetic_is_refused(words):
    with pytest.raises(UserError, match="expected a formula"):
        Formula.read(words, "f:1").value({"x": 1.0})


@pytest.mark.parametrize("words", ["1 / (x - x)", "10.0 ** 400", "(0 - 1) ** 0.5"])
def test_formula_without_a_value_is_reported(words):
    with pytest.raises(UserError, match="f:1: "):
        Formula.read(words, "f:1").value({"x": 1.0})


def test_braces_are_replaced_by_values_of_formulas():
    values = {"home": "node0", "n": 4.0}
    assert Template.read("{home}-{256/n}x{ n }", "f:1").text(values) == "node0-64x4"
    assert Constraint.read("n >= 5", "f:1").excess(values) == 1


@pytest.mark.parametrize("ending", ["svg", "html"])
def test_picture_of_the_front_names_designs_and_axes_and_marks_excluded_designs(tmp_path, ending):
    bounds = '"cores <= 2", "mcs.p99 <= 2"'
    found = explore(written(tmp_path, FILE.replace('"cores <= 2", "mcs.p99 <= 100"', bounds)))
    text = picture(tmp_path / f"front.{ending}", *report.panels(found)).read_text()
    assert "cores 2" in text and "mcs.throughput M" in text and "not allowed" in text


def test_explore_command_prints_the_front_and_its_runs(plan, monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(store, "POINTS_FOLDER", tmp_path / "points")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as ended:
        cli.main(["explore", "x.toml", "--cores", "1", "--runs", "--output", "front.json"])
    out = capsys.readouterr().out
    assert ended.value.code == 0
    assert "6 designs tried" in out and "uncore run ccx:2x2 lock/mcs --threads 4" in out


def shipped(name: str) -> ExplorationPlan:
    return ExplorationPlan.read(CHECKOUT / f"docs/explore/{name}.toml")


def test_plan_of_the_chiplets_example_has_its_three_runs():
    plan = shipped("chiplets")
    assert {name for name, _ in plan.jobs({c.name: c.values[0] for c in plan.choices})} == {
        "mcs",
        "refcount",
        "epoch",
    }


def test_all_shapes_of_the_wires_study_have_equal_wires_harts_and_protocols(monkeypatch):
    monkeypatch.chdir(CHECKOUT)
    plan = shipped("wires")
    for shape in plan.choices[0].values:
        _, job = next(plan.jobs({"shape": shape, "core.atomics": "near"}))
        assert of_machine(job.machine)["wire"] == pytest.approx(61_440, abs=1)
        assert (job.machine.harts, job.machine.protocol) == (256, "mesi")


@pytest.mark.long
def test_wires_study_finds_the_best_shapes_that_its_note_states(monkeypatch):
    """A hub is the best shape for reference counts with near atomics, and the worst with far ones.
    Complexes are the best for locks. Epochs and shootdowns do not depend on the shape.
    """
    monkeypatch.chdir(CHECKOUT)
    rates: dict[tuple[str, str], list[tuple[float, str]]] = {}
    for tried in explore(shipped("wires"), 2).tried:
        for name in ("lock", "refcount", "epoch", "shootdown"):
            found = (tried.known[f"{name}.throughput"], tried.design["shape"])
            rates.setdefault((name, tried.design["core.atomics"]), []).append(found)
    assert max(rates["refcount", "near"])[1] == "hub" == min(rates["refcount", "far"])[1]
    for where in ("near", "far"):
        assert max(rates["lock", where])[1] == "complexes"
        for name in ("epoch", "shootdown"):
            assert max(rates[name, where])[0] < 1.05 * min(rates[name, where])[0]
