"""Does `--within` end when it knows, and is what it says then true?"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Command

import uncore as api
from uncore.execution import enough
from uncore.execution.request import make_job
from uncore.job import Job
from uncore.result import load
from uncore.result.schema import Estimate, Point
from uncore.result.steady import Pace

JOB = ("run", "ring:8", "lock/mcs", "--threads", "1,8")
WITHIN = (*JOB, "--within", "5%")
SPANS, LENGTH = 100, 10**6  # of a made-up run
TIMED = 32  # operations of each hart in a made-up run that is timed


def test_the_result_is_of_plain_runs_that_anybody_can_repeat(uncore: Command) -> None:
    said = uncore(*WITHIN, "--output", "a.json")
    assert said.status == 0, said.err
    result = load(Path("a.json"))
    assert result.job.keys() >= {"lengths", "seeds"} and "within" not in result.job
    for length, one in zip(result.job["lengths"], result.estimated, strict=True):
        threads, ops, runs, start, duration = length
        long = {"duration": f"{duration}ns"} if duration else {"ops": ops}
        points = [point for point in result.points if point.threads == threads]
        assert [point.seed for point in points] == [*range(1, runs + 1)]
        soon = {"chance.start": f"{start}ps"}
        seeds = range(1, runs + 1)
        plain = api.run("ring:8", "lock/mcs", [threads], overrides=soon, seeds=seeds, **long)
        assert plain.points == points
        assert one.reached and len(one.rates) == runs
    assert uncore("run", "--again", "a.json").out.startswith("reproduced bit for bit")


def test_it_is_the_same_on_any_number_of_cores_and_when_resumed(uncore: Command) -> None:
    words = (*WITHIN, "--output", "a.json")
    hashes = set()
    for more in ((), ("--cores", "2"), ("--resume",)):
        assert uncore(*words, *more).status == 0
        result = load(Path("a.json"))
        hashes.add((result.result_hash, *(one.throughput for one in result.estimated)))
    assert len(hashes) == 1
    assert result.host.resumed == len(result.points)


def test_the_table_says_what_its_figures_are(uncore: Command) -> None:
    output = uncore(*WITHIN).out
    (row,) = json.loads(uncore(*WITHIN[:-4], "--threads", "4", *WITHIN[-2:], "--json").out)
    assert "+- is half of a 95 % confidence interval of the median of" in output
    assert row["level"] == 95 and row["reached"] and row["steady"]
    assert row["throughput_max"] - row["throughput_min"] <= 0.1 * row["throughput"]
    assert row["throughput"] == sorted(row["throughputs"])[(row["repeats"] - 1) // 2]


def test_compare_and_whatif_take_the_intervals(uncore: Command) -> None:
    sides = ("compare", "ring:4", "lock/mcs", "lock/ticket", "--threads", "4", "--within", "5%")
    comparison = json.loads(uncore(*sides, "--json").out)["rows"][0]
    assert comparison["a_max"] - comparison["a_min"] <= 0.101 * comparison["a"]
    look = ("whatif", "ring:4", "lock/mcs", "--threads", "4", "--within", "5%", "--only", "line")
    for row in json.loads(uncore(*look, "--json").out):
        assert row["throughput_min"] < row["throughput"] < row["throughput_max"]
        assert "--within 5%" in row["run"]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--set", "ops=9"), "finds out how long runs are; leave --set ops= out"),
        (("--set", "duration=1us"), "leave --set duration= out"),
        (("--seed", "none"), "leave --seed none out"),
        (("--within", "two"), "--within two: expected a share, such as 2%"),
        (("--within", "100%"), "--within 100%: expected less than 100%"),
    ],
)
def test_what_contradicts_it_is_refused(uncore: Command, words: tuple[str, ...], says: str) -> None:
    given = JOB if "--within" in words else WITHIN
    said = uncore(*given, *words)
    assert said.status == 2
    assert says in " ".join(said.err.split())


def test_a_workload_without_operations_is_refused(uncore: Command) -> None:
    said = uncore("run", "ring:4", "latency/pingpong", "--within", "2%")
    assert said.status == 2
    assert "so it says itself how long it runs" in said.err


# ---- the rounds, on runs that are made up


def searched(
    rate: Callable[[int, int], float],
    apart: Callable[[int, int], float] = lambda seed, ops: 0.0,
    threads: int = 4,
    timed: float = 1.0,
    lines: int = 5,
) -> tuple[Estimate, list[int], Job]:
    """A search; the runs of each round; and its job.

    A run with a seed has the rate `rate(seed, ops)` and becomes slower by `apart(seed, ops)`.  Its
    rate is `timed` times higher where it is timed; an operation fetches so many lines."""
    job = make_job("ring:8", "lock/mcs", [threads], within="2%", seeds=(1,))
    plan, rounds = enough.plan(job), []
    while asked := plan.asks():
        rounds.append(len(asked))
        for point in asked:
            given = dict(point.parameters)
            ops = TIMED if "duration" in given else int(given["ops"])
            times = timed if "duration" in given else 1.0
            made = run(
                point, ops, times * rate(point.seed or 0, ops), apart(point.seed or 0, ops), lines
            )
            plan.take(*made)
    found, estimated = plan.ended()
    return estimated[0], rounds, found


def run(job: Job, ops: int, rate: float, apart: float, lines: int) -> tuple[Point, dict[str, Any]]:
    """A run in which so many operations are done in a span; without a rate, none.  On the whole one
    takes each hart 10 ns."""
    span = max(1, round(LENGTH / (rate or 1)))
    at = [(n + 1) * span * (1 + apart / 2 * (n / SPANS - 1)) for n in range(SPANS)]
    pace = Pace(0, SPANS * span if rate else 0, span, 0, [(1, round(time)) for time in at])
    threads = job.threads[0]
    times = {"elapsed_ps": ops * 10_000, "ops": threads * ops, "thread_ops": [ops] * threads}
    absent = dict.fromkeys(("latency", "lines", "invalidations", "links"), "no")
    absent |= dict.fromkeys(("resolvers", "instructions", "transactions", "events"), "no")
    absent["failed_scs"] = "no"
    fetched = {"memory": lines * threads * ops}
    point = Point(threads=threads, seed=job.seed, transfers=fetched, absent=absent, **times)
    return point, {"pace": pace}


def half(estimated: Estimate) -> float:
    return (estimated.high - estimated.low) / 2 / estimated.throughput


def test_runs_that_agree_are_enough_at_once() -> None:
    estimated, rounds, _ = searched(lambda seed, ops: 1.0)
    assert rounds == [1, 1, enough.RUNS[0] - 1]
    assert half(estimated) == pytest.approx(0.02 / enough.FLOOR) and estimated.reached


def test_a_run_apart_from_all_others_asks_for_more_of_them() -> None:
    estimated, rounds, _ = searched(lambda seed, ops: 0.7 if seed == 3 else 1.0)
    assert rounds == [1, 1, 5, 3]
    assert half(estimated) < 0.02


def test_longer_runs_begin_anew_where_many_are_apart() -> None:
    estimated, rounds, _ = searched(lambda seed, ops: 1 + 8 / ops * (-1) ** seed)
    assert rounds == [1] + [1, 5] * (len(rounds) // 2)
    lengths = [enough.FEW // 4 << n for n in range(len(rounds) // 2)]
    assert estimated.reached and estimated.ops == lengths[-1]
    assert estimated.operations == 4 * (TIMED + 6 * sum(lengths))


def test_longer_runs_follow_where_a_steady_state_still_becomes_faster() -> None:
    estimated, _, _ = searched(lambda seed, ops: 1.0, lambda seed, ops: 6.4 / ops)
    assert estimated.ops == 2 * enough.FEW // 4  # halves of what is steady: 3.1 %, then 1.6


def test_the_longest_runs_end_it_and_that_is_said() -> None:
    estimated, _, _ = searched(lambda seed, ops: 1 + 0.3 * (-1) ** seed)
    assert estimated.ops == enough.LONGEST * enough.FEW // 4
    assert len(estimated.rates) == enough.RUNS[-1]
    assert not estimated.reached and estimated.steady


def test_timed_runs_are_more_but_no_longer_where_each_is_alike_and_they_are_not() -> None:
    estimated, rounds, _ = searched(lambda seed, ops: 1 + 0.3 * (-1) ** seed, threads=8)
    assert rounds == [1, 1, 1, 6, 3, 8]  # a trial of two, and one that tells the length
    assert not estimated.reached


def test_timed_runs_are_made_longer_where_their_halves_differ_as_they_do() -> None:
    def rate(seed: int, ops: int) -> float:
        return 1 + 0.05 * (-1) ** seed

    _, rounds, alike = searched(rate, threads=8)
    _, longer, job = searched(rate, lambda seed, ops: 0.4 * (-1) ** seed, threads=8)
    assert job.lengths[0].duration > (enough.LONGEST - 1) * alike.lengths[0].duration
    assert longer == rounds + [1, 5, 3, 8] * 4


def test_without_a_steady_state_rates_are_of_whole_runs() -> None:
    estimated, _, _ = searched(lambda seed, ops: 0.0)
    assert not estimated.steady
    assert estimated.throughput == 4 * 10**8


def test_runs_that_take_little_more_than_the_start_are_made_longer_however_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(enough, "UNSTEADY", 1)
    estimated, _, _ = searched(lambda seed, ops: 0.0)
    took = estimated.ops * 10_000
    start = 4 * 10**6  # of four harts, 1 us each
    assert enough.STARTS * start <= took < 2 * enough.STARTS * start
    assert estimated.ops > enough.LONGEST * enough.FEW // 4


def test_harts_start_no_further_apart_than_two_operations_and_the_machine_say() -> None:
    soon = searched(lambda seed, ops: 10.0, threads=8)[2].lengths[0].start  # an operation in 0.1 us
    late = searched(lambda seed, ops: 0.1, threads=8)[2].lengths[0].start
    assert (soon, late) == (2 * 10**5, 10**6)


@pytest.mark.parametrize(
    ("trial", "are_timed"),
    [
        ({}, True),
        ({"timed": 0.98}, True),
        ({"timed": 0.97}, False),  # the loop's look at the clock makes it slower
        ({"lines": 2}, False),  # an operation is done twice while a line is in hand
        ({"threads": 7}, False),
    ],
)
def test_runs_are_timed_where_a_trial_of_few_harts_is_none_the_slower_for_it(
    trial: dict[str, Any], are_timed: bool
) -> None:
    _, _, job = searched(lambda seed, ops: 1.0, **{"threads": 8, **trial})
    assert bool(job.lengths[0].duration) == are_timed
    assert bool(job.lengths[0].ops) != are_timed


def test_intervals_of_a_search_hold_the_median_as_often_as_they_say() -> None:
    held, tries = 0, 400
    for number in range(tries):
        draw = random.Random(number)
        estimated, _, _ = searched(lambda seed, ops, draw=draw: draw.gauss(1, 0.012))
        low, high = estimated.ends
        held += low <= 1e12 / LENGTH <= high
    assert 0.92 <= held / tries <= 0.98
