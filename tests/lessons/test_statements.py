"""Do the runs of the lessons on fences and overlap give the results that the lessons state?"""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from uncore import topology
from uncore.cli import app as cli
from uncore.study import lessons
from uncore.study.lessons.figures import figures, job
from uncore.study.lessons.text import Predict, Run, Watch
from uncore.support.paths import TOPOLOGIES
from uncore.trace import MEASURED, Trace, Window, record

ANSWERS = Path(__file__).parent / "answers"


def predicted(lesson: str, number: int) -> dict[str, Any]:
    """Returns the figures of the runs of a prediction."""
    part = lessons.read(lesson).predictions[number]
    assert isinstance(part, Predict)
    return figures({name: job(words) for name, words in part.runs.items()})


def rows(lesson: str, command: str, capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    """Runs the lesson's command that matches `command`, and returns the rows that it prints."""
    words = [p.command for p in lessons.read(lesson).parts if isinstance(p, Run)]
    (found,) = (word for word in words if re.match(f"uncore {command}", word))
    with pytest.raises(SystemExit):
        cli.main([*found.split()[1:], "--json"])
    answer: list[dict[str, Any]] = json.loads(capsys.readouterr().out)
    return answer


def watched(lesson: str) -> Trace:
    (part,) = (p for p in lessons.read(lesson).parts if isinstance(p, Watch))
    return record(job(part.run), Window(around=MEASURED))


def p50(words: str) -> float:
    time = figures({"run": job(words)})["run.p50"]
    assert time
    return time


# ---- fences --------------------------------------------------------------------------------------


def test_fences_take_more_than_three_quarters_of_an_uncontended_acquisition() -> None:
    run = predicted("fences", 0)
    fences = run["fence.p50"] - run["free.p50"]
    assert 0.75 < fences / run["fence.p50"] < 0.8
    core = topology.load("epyc7742x2").core
    assert fences == pytest.approx(4 * core.fence / 1000, rel=0.05)
    stated = (TOPOLOGIES / "families/zen2.toml").read_text()
    assert re.search(r'fence += \{ value = "78cy"', stated)
    assert run["fence.lines"] < 0.5  # every store hits


def test_fences_hardly_matter_with_sixteen_threads() -> None:
    run = predicted("fences", 1)
    assert 1 <= run["free.throughput"] / run["fence.throughput"] < 1.1


def test_only_full_fences_in_both_threads_ensure_that_one_sees_the_others_store(
    capsys: pytest.CaptureFixture[str],
) -> None:
    seen = {row["test"]: row["seen"] for row in rows("fences", "litmus", capsys)}
    assert (seen["SB"], seen["SB+fence rw,rw"], seen["SB+amo"]) == (4, 3, 3)
    assert seen["SB+fence+po"] == seen["SB+po+fence"] == seen["SB+fence.tso"] == 4


def test_no_weaker_fence_is_enough_for_the_lock(capsys: pytest.CaptureFixture[str]) -> None:
    asked = [row for row in rows("fences", "fences", capsys) if "fence" in row["says"]]
    verdicts = {row["weakened"]: row["verdict"] for row in asked}
    assert verdicts == dict.fromkeys(["signal fence", "acquire", "release", "acq_rel"], "needed")


def test_fence_time_matters_for_few_threads_and_not_for_many(
    capsys: pytest.CaptureFixture[str],
) -> None:
    rates: dict[int, dict[str, float]] = {}
    for row in rows("fences", "run", capsys):
        rates.setdefault(row["threads"], {})[row["with.core.fence"]] = row["throughput"]
    gains = [rate["0ns"] / rate["78cy"] for _, rate in sorted(rates.items())]
    assert gains == sorted(gains, reverse=True)
    assert gains[0] > 2.5 and gains[-1] < 1.1


def test_fence_after_an_atomic_costs_one_instruction(tmp_path: Path) -> None:
    source = (ANSWERS / "fences/right_exchange.c").read_text()
    exchange = "(void)atomic_exchange(&pair->last, side);"
    fenced = source.replace(exchange, f"{exchange} atomic_thread_fence(memory_order_seq_cst);")
    assert fenced != source
    times = []
    for name, text in {"plain.c": source, "fenced.c": fenced}.items():
        (tmp_path / name).write_text(text)
        times.append(p50(f"epyc7742x2 {tmp_path / name} 1 ops=400 levels=4"))
    assert times[0] <= times[1] <= times[0] + 5  # ns, of four instructions


def test_thread_reads_the_flag_of_the_other_thread_only_after_its_own_store_has_its_line() -> None:
    trace = watched("fences")
    messages = trace.tables["messages"]
    lines = {trace.name(line): line for line in trace.lines}

    def about(name: str, kind: str) -> Any:
        return messages.filter((messages["line"] == lines[name]) & (messages["kind"] == kind))

    (asks, *_) = about("pairs[1].last", "GetM").iter_rows(named=True)
    came = about("pairs[1].last", "Data")
    came = came.filter(came["receiver"] == asks["sender"])["arrived"].min()
    looks = about("pairs[1].sides[0].wants", "GetS")
    looked = looks.filter(looks["sender"] == asks["sender"])["sent"].min()
    assert asks["sent"] < came < looked


# ---- overlap -------------------------------------------------------------------------------------


def test_line_from_another_core_takes_about_sixty_ns() -> None:
    assert 55 < predicted("overlap", 0)["one.p50"] / (16 * 32) < 70


def test_sixteen_lists_side_by_side_are_not_sixteen_times_as_fast() -> None:
    run = predicted("overlap", 0)
    misses = topology.load("x6130x2").core.misses
    assert misses == 12
    assert 0.7 * misses < run["one.p50"] / run["many.p50"] < misses


def test_four_misses_at_a_time_are_nearly_four_times_as_fast() -> None:
    run = predicted("overlap", 1)
    assert 3.5 < run["one.p50"] / run["many.p50"] < 4


def test_twice_as_many_parallel_lists_take_little_more_than_half_the_time(
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = rows("overlap", "run .*at_once=1,2,4,8,16", capsys)
    times = [row["latency.p50_ps"] for row in found]
    assert len(times) == 5
    assert all(0.5 < b / a < 0.6 for a, b in pairwise(times))
    assert 0.3 < times[2] / times[0] < 0.36  # the hint: four lists at once take a third
    fetched = [row["transfers.socket"] for row in found]
    assert max(fetched) <= 1.01 * min(fetched)


@pytest.mark.parametrize(("number", "none"), [("core.misses", "1"), ("core.window", "0")])
def test_misses_do_not_overlap_with_one_miss_at_a_time_or_no_window(
    number: str, none: str, capsys: pytest.CaptureFixture[str]
) -> None:
    times = {
        (row[f"with.{number}"], row["set.at_once"]): row["latency.p50_ps"]
        for row in rows("overlap", f"run .*{number}", capsys)
    }
    assert times[none, "16"] == pytest.approx(times[none, "1"], rel=0.02)
    alone = [time for (_, at_once), time in times.items() if at_once == "1"]
    assert max(alone) <= 1.01 * min(alone)


def test_larger_window_does_not_help_a_single_list() -> None:
    words = "x6130x2 latency/lists 2 at_once=1"
    assert p50(f"{words} core.window=448") == pytest.approx(p50(words), rel=0.01)


@pytest.mark.parametrize("answer", ["wrong_atomic_sum", "wrong_sequentially_consistent"])
def test_no_load_starts_before_an_earlier_atomic_or_full_fence_has_ended(answer: str) -> None:
    lists = "2 at_once=1 lists=16 length=32 rounds=20"
    time = p50(f"x6130x2 {ANSWERS / 'overlap' / answer}.c {lists}")
    assert time > 0.95 * p50(f"x6130x2 latency/lists {lists}")


def test_four_misses_are_under_way_at_the_same_time() -> None:
    trace = watched("overlap")
    names = {trace.name(line): line for line in trace.lines}
    messages = trace.tables["messages"]
    asked, came = [], []
    for k in range(19, 23):
        own = messages.filter(messages["line"] == names[f"elements[{k}].next"])
        probed = own.filter(own["kind"] == "ProbeS")["sent"].min()
        asked.append(own.filter((own["kind"] == "GetS") & (own["arrived"] <= probed))["sent"].max())
        came.append(own.filter((own["kind"] == "Data") & (own["sent"] > probed))["arrived"].min())
    assert asked == sorted(asked) and max(asked) < min(came)
