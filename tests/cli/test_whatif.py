"""Does `uncore whatif` predict the gain that a program really has after the change?"""

from __future__ import annotations

import json
import shlex

import pytest

from uncore import api
from uncore.execution import request
from uncore.execution.execute import execute
from uncore.protocol.table_shapes import PROTOCOLS
from uncore.study.whatif import changed

SHARED = ("epyc7601x2", "layout/false_sharing", "--threads", "4", "--set", "ops=300")


def predicted_rows(uncore, *arguments):
    outcome = uncore("whatif", *arguments, "--repeat", "1", "--json")
    assert outcome.status == 0, outcome.err
    return json.loads(outcome.out)


def test_predicted_gain_of_separating_fields_is_that_of_a_program_with_separate_fields(uncore):
    rows = predicted_rows(uncore, *SHARED, "--only", "layout")
    assert rows[0]["change"] in ("*limit apart from *count", "*count apart from *limit")
    assert rows[0]["throughput_change"] > 0.15
    by_hand = api.run(
        "epyc7601x2", "layout/false_sharing", (4,), ops=300, distance=64, seeds=(1,)
    ).points[0]
    assert rows[0]["throughput"] == pytest.approx(by_hand.throughput, rel=0.05)


def test_command_of_a_whatif_row_repeats_its_run(uncore):
    rows = predicted_rows(uncore, *SHARED, "--only", "line", "--only", "layout")
    for row in rows[:2]:
        arguments = shlex.split(row["run"])[1:]
        (repeated,) = json.loads(uncore(*arguments, "--json").out)
        assert repeated["throughput"] == row["throughput"]


def test_each_number_of_the_machine_is_increased_and_decreased(uncore):
    rows = predicted_rows(uncore, "bus:2", "lock/ticket", "--threads", "2", "--only", "number")
    ends = [row["throughput_change"] for row in rows if "system.join" in row["change"]]
    assert min(ends) < 0 < max(ends)
    assert rows == sorted(rows, key=lambda row: -row["throughput_change"])


def test_widths_slices_directories_and_protocols_are_changed_if_selected(uncore):
    arguments = ("ccx:2x2", "lock/ticket", "--threads", "4", "--set", "ops=20")
    sizes = ("--with", "system.resolver.entries=64", "--with", "system.resolver.ways=8")
    kinds = ("width", "slices", "directory", "protocol")
    selected = [word for kind in kinds for word in ("--only", kind)]
    rows = predicted_rows(uncore, *arguments, *sizes, *selected)
    options = {row["change"]: row["words"] for row in rows}
    assert options["ccx.join.width 32B/cy -> 25.6B/cy"] == "--with ccx.join.width=25.6B/cy"
    assert {"system.resolver.slices 8 -> 4", "system.resolver.entries 64 -> 128"} <= options.keys()
    protocols = [row["change"] for row in rows if row["kind"] == "protocol"]
    assert len(protocols) == len(set(protocols)) == len(PROTOCOLS) - 1
    assert "protocol moesi" in protocols and "protocol mesi" not in protocols
    slower = [row["throughput_change"] for row in rows if "32B/1ns -> 25.6B/1ns" in row["change"]]
    assert slower[0] < 0


def test_gain_within_the_spread_of_repeats_is_marked_as_doubtful(uncore):
    arguments = ("bus:4", "lock/ticket", "--threads", "4", "--set", "ops=20")
    kinds = ("--only", "number", "--only", "line")
    rows = json.loads(uncore("whatif", *arguments, *kinds, "--json").out)
    (base,) = json.loads(uncore("run", *arguments, "--json").out)
    for row in rows:
        clearly_faster = row["throughput_min"] > 2 * base["throughput_max"]
        assert not (clearly_faster and row["doubtful"])
    assert {row["doubtful"] for row in rows} == {False, True}
    printed = uncore("whatif", *arguments, *kinds).out
    assert "~" in printed
    assert "+-" in printed


def test_changes_rank_before_bounds_and_gains_before_doubtful_effects(uncore):
    arguments = ("mesh:2x2", "lock/ticket", "--threads", "4", "--set", "ops=20")
    rows = json.loads(uncore("whatif", *arguments, "--json").out)
    ranks = [(r["where"] == "bound", rank(r), -r["throughput_change"]) for r in rows]
    assert ranks == sorted(ranks)
    assert {r["kind"] for r in rows if r["where"] == "bound"} == {"line"}
    (nearer,) = [r for r in rows if r["kind"] == "distance"]
    changed = [word for word in shlex.split(nearer["words"]) if word != "--with"]
    assert changed == [
        *("system.join.inject=6.4ns", "system.join.eject=6.4ns", "system.join.latency=1.6cy")
    ]
    printed = uncore("whatif", *arguments).out
    changes, _, bounds = printed.partition("Bounds:")
    assert "costs nothing" not in changes and "costs nothing" in bounds
    assert "seed by seed" in " ".join(printed.split())


def rank(row):
    return 1 if row["doubtful"] else 0 if row["throughput_change"] > 0 else 2


def test_result_of_a_run_with_option_free_is_reproduced(uncore):
    arguments = (*SHARED, "--repeat", "1", "--free", "count", "--apart", "*limit")
    assert uncore("run", *arguments, "--output", "r.json").status == 0
    assert "reproduced bit for bit" in uncore("run", "--again", "r.json").out


def test_line_without_cost_that_many_harts_write_starves_no_hart():
    """Atomics on the free line are still performed one after another; nothing else waits."""
    job = request.make_job("epyc7601x2", "counter/contended", (4,), parameters={"ops": 50})
    with_free_lines = changed(job, ["*counter"], [])
    (point,) = [repeat for result in execute([with_free_lines]) for repeat in result.points]
    assert not point.failures
    assert point.elapsed_ps < 4 * 50 * 25 * 1.5 * job.machine.core.atomic


@pytest.mark.parametrize(
    ("workload", "names"),
    [("lock/ticket", ["lock", "guarded->owner"]), ("epoch/hazard", ["*current", "updater[].free"])],
)
def test_weakly_ordered_cores_obey_memory_orders_on_lines_without_cost(workload, names):
    """Stores to free lines still stay in the store buffer (H8)."""
    seeds, weak = tuple(range(1, 21)), {"core.order": "weak"}
    settings = {"ops": 20}
    job = request.make_job(
        "ccx:2x4", workload, (4,), parameters=settings, overrides=weak, seeds=seeds
    )
    usual, with_free_lines = (
        [result_point for result in execute([run]) for result_point in result.points]
        for run in (job, changed(job, names, []))
    )
    assert not any(point.failures for point in with_free_lines)
    assert sum(result_point.elapsed_ps for result_point in with_free_lines) < sum(
        result_point.elapsed_ps for result_point in usual
    )


def test_unknown_object_gives_a_message(uncore):
    outcome = uncore("run", *SHARED, "--free", "cuont")
    assert outcome.status == 2
    assert "no object is called 'cuont'; this run has touched" in outcome.err


def test_reference_engine_refuses_option_free(uncore):
    arguments = ("bus:2", "lock/tas", "--threads", "2", "--free", "lock")
    outcome = uncore("run", *arguments, "--engine", "reference")
    assert outcome.status == 2
    assert "native" in outcome.err


def test_whatif_in_python_gives_the_rows_of_the_command_whatif(uncore):
    import uncore as module

    effects = module.whatif(*SHARED[:2], 4, ops=300, only=["layout"], seeds=(1,))
    rows = predicted_rows(uncore, *SHARED, "--only", "layout")
    assert [row["throughput"] for row in effects.to_rows()] == [row["throughput"] for row in rows]
    assert "apart from" in effects._repr_html_()


def test_alternative_protocol_of_a_machine_is_listed_first_even_if_it_is_slower(uncore):
    arguments = ("ring:4", "lock/ticket", "--threads", "4", "--set", "ops=20", "--repeat", "1")
    assert predicted_rows(uncore, *arguments)[0]["kind"] != "protocol"
    for with_ in ("alternative_protocol=migratory", "alternative_protocol=msi"):
        rows = predicted_rows(uncore, *arguments, "--with", with_)
        alternative = with_.partition("=")[2]
        assert rows[0]["change"] == f"protocol {alternative}" and rows[0]["where"] == "machine"
        assert f"--with protocol={alternative}" in rows[0]["words"]
        (repeated,) = json.loads(uncore(*shlex.split(rows[0]["run"])[1:], "--json").out)
        assert repeated["throughput"] == rows[0]["throughput"]


def test_run_notes_once_that_a_machine_has_an_alternative_protocol(uncore):
    outcome = uncore("run", "r7900x", "counter/atomic", "--threads", "1,2", "--set", "ops=20")
    assert outcome.err.count("r7900x: to load and then change a line written elsewhere costs") == 1
    without_alternative = uncore(
        "run", "x6130x2", "counter/atomic", "--threads", "1", "--set", "ops=20"
    )
    assert "written elsewhere" not in without_alternative.err
