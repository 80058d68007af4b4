"""Does `uncore compare` print the ratio of two workloads, and the lines that cause it?"""

from __future__ import annotations

import json
import shlex
import statistics
from pathlib import Path

import pytest

from uncore.support.paths import WORKLOADS

LOCKS = ("ccx:2x4", "lock/ticket", "lock/mcs", "--threads", "1,4,8", "--set", "ops=20")


def test_compared_rates_equal_those_of_separate_runs(uncore):
    comparison = json.loads(uncore("compare", *LOCKS, "--json").out)
    for word, side in (("lock/ticket", "a"), ("lock/mcs", "b")):
        run = json.loads(uncore("run", "ccx:2x4", word, *LOCKS[3:], "--json").out)
        assert [row["threads"] for row in run] == [row["threads"] for row in comparison["rows"]]
        rates = [row[side] for row in comparison["rows"]]
        assert rates == pytest.approx([row["throughput"] for row in run], rel=1e-3)
        fetched = {p["name"]: p[side] * run[-1]["ops"] for p in comparison["classes"]}
        counted = {k[10:]: v for k, v in run[-1].items() if k.startswith("transfers.")}
        assert {k: v for k, v in fetched.items() if v} == pytest.approx(counted)
    ratios = [row["ratio"] for row in comparison["rows"]]
    assert ratios == pytest.approx([row["b"] / row["a"] for row in comparison["rows"]])
    assert (comparison["ratio_min"], comparison["ratio_max"]) == (min(ratios), max(ratios))
    assert max(ratios) > 1.2 * min(ratios)  # so the kinds of means differ
    assert comparison["ratio_mean"] == pytest.approx(statistics.geometric_mean(ratios))


def test_object_with_the_largest_difference_comes_first(uncore):
    comparison = json.loads(uncore("compare", *LOCKS, "--json").out)
    assert comparison["lines"][0]["name"] == "lock"  # all harts spin on the ticket lock's only line
    assert comparison["lines"][0]["difference"] < -1
    assert (comparison["a"], comparison["b"], comparison["common"]) == (
        "lock/ticket",
        "lock/mcs",
        "ccx:2x4",
    )


def test_object_whose_waits_differ_most_is_named_with_its_waits_in_ns(uncore):
    comparison = json.loads(uncore("compare", *LOCKS, "--json").out)
    first = comparison["waits"][0]
    assert first["name"] == "lock->ticket.served" and first["difference"] < -100
    uncore("run", LOCKS[0], LOCKS[1], *LOCKS[3:], "--output", "ticket.json")
    costs = json.loads(uncore("lines", "ticket.json", "--json").out)
    (waited,) = (cost["waited_ns"] for cost in costs if cost["object"] == "lock->ticket.served")
    assert first["a"] == pytest.approx(waited, rel=0.01)


def test_result_that_cannot_be_repeated_is_compared_without_its_waits(uncore):
    mine = Path("mine.c")
    mine.write_text((WORKLOADS / "lock" / "ticket.c").read_text())
    for machine in ("ring:2", "bus:2"):
        uncore("run", machine, str(mine), "--threads", "2", "--output", f"{machine[:-2]}.json")
    mine.unlink()
    result = uncore("compare", "ring.json", "bus.json", "--json")
    assert result.status == 0 and json.loads(result.out)["waits"] is None
    assert "is not compared" in result.err and "mine.c" in result.err


def test_comparison_of_saved_results_equals_that_of_their_machines(uncore):
    arguments = ("counter/atomic", "--threads", "1,4")
    for machine in ("bus:4", "ring:4"):
        uncore("run", machine, *arguments, "--output", f"{machine[:3]}.json")
    saved = uncore("compare", "bus.json", "rin.json", "--json")
    assert saved.out == uncore("compare", "bus:4", "ring:4", *arguments, "--json").out
    assert json.loads(saved.out)["common"] == "counter/atomic"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("bus:4", "lock/mcs"), "it got 1 and 1"),
        (("bus:4", "ring:4", "lock/mcs", "lock/ticket"), "it got 2 and 2"),
        (("bus:4", "lock/mcs", "lock/tickt"), "Did you mean 'lock/ticket'"),
        (("a.json", "b.json", "--threads", "2"), "no option of a run"),
        ((), "it got 0 and 0"),
    ],
)
def test_invalid_arguments_are_refused_with_a_message(uncore, arguments, message):
    result = uncore("compare", *arguments)
    assert result.status == 2 and message in result.err and not result.out


def test_watch_command_in_the_last_line_can_be_run(uncore):
    Path("mine.c").write_text((WORKLOADS / "lock" / "ticket.c").read_text())
    arguments = ("ccx:2x4", "mine.c", "lock/mcs", "--threads", "8", "--set", "ops=3")
    out = " ".join(uncore("compare", *arguments).out.split())
    summary, repeat = out.partition("At 8 threads")[2].split(" To see where they part: uncore ")
    assert "differ most" in summary
    command = shlex.split(repeat)
    assert command[0] == "watch"
    assert uncore(*command).status == 0 and Path("w.html").is_file()


def test_watch_command_lists_the_differing_values_in_one_option(uncore):
    arguments = ("bus:4", "lock/ticket", "--threads", "4", "--set", "ops=3")
    for name in ("mesi", "moesi"):
        uncore("run", *arguments, "--with", f"protocol={name}", "--output", f"{name}.json")
    repeat = " ".join(uncore("compare", "mesi.json", "moesi.json").out.split())
    assert "bus:4 lock/ticket --set ops=3 --with protocol=mesi,moesi" in repeat
