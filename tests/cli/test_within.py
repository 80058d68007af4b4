"""Does `--within` stop as soon as the confidence interval is narrow enough, and is it correct?"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from tests.cli.conftest import Command

import uncore as api
from uncore.execution import enough
from uncore.execution.request import make_job
from uncore.job import Job
from uncore.result import load
from uncore.result.repeats import rate as rate_of
from uncore.result.schema import Estimate, Point
from uncore.support.steady import Pace

JOB = ("run", "ring:8", "lock/mcs", "--threads", "1,8")
COUNTERS = ("compare", "x6130x2", "counter/atomic", "counter/percpu", "--threads", "64")
WITHIN = (*JOB, "--within", "5%")
SPANS = 100  # equal spans of time into which a made-up run is divided


def test_result_of_a_search_can_be_repeated_by_plain_runs(uncore: Command) -> None:
    outcome = uncore(*WITHIN, "--output", "a.json")
    assert outcome.status == 0, outcome.err
    result = load(Path("a.json"))
    assert result.job.keys() >= {"lengths", "seeds"} and "within" not in result.job
    for length, estimate in zip(result.job["lengths"], result.estimated, strict=True):
        threads, ops, runs, start, duration, warmup = length
        options = {"duration": f"{duration}ns", "warmup": f"{warmup}ns", "unclocked": ops}
        points = [point for point in result.points if point.threads == threads]
        assert [point.seed for point in points] == [*range(1, runs + 1)]
        starts = {"chance.start": f"{start}ps"}
        seeds = range(1, runs + 1)
        plain = api.run("ring:8", "lock/mcs", [threads], overrides=starts, seeds=seeds, **options)
        assert plain.points == points
        assert (
            estimate.reached
            and estimate.throughput == sorted(p.throughput for p in points)[(runs - 1) // 2]
        )
    assert uncore("run", "--again", "a.json").out.startswith("reproduced bit for bit")


def test_picture_of_a_single_searched_run_has_no_band(uncore: Command) -> None:
    outcome = uncore("run", "bus:2", "lock/ticket", "--repeat", "1", "--plot", "p.svg")
    assert outcome.status == 0, outcome.err
    assert "<svg" in Path("p.svg").read_text()


def test_search_is_the_default_and_a_given_length_disables_it(uncore: Command) -> None:
    searched, plain = (
        json.loads(uncore(*JOB, *more, "--json").out) for more in ((), ("--set", "ops=20"))
    )
    assert all("level" in row for row in searched) and all("level" not in row for row in plain)
    assert searched == json.loads(uncore(*WITHIN, "--json").out)
    for more in (("--within", "0%"), ("--seed", "none")):
        assert all("level" not in row for row in json.loads(uncore(*JOB, *more, "--json").out))


def test_private_counters_of_64_threads_are_two_hundred_times_as_fast_as_a_shared_counter(
    uncore: Command,
) -> None:
    """Harts start up to two operations apart, and an operation on the shared counter takes
    microseconds. The harts that start late must not distort the rate.
    """
    (row,) = json.loads(uncore(*COUNTERS, "--json").out)["rows"]
    longer = ("--set", "duration=200us", "--set", "warmup=20us", "--set", "unclocked=1000")
    (long_run,) = json.loads(uncore(*COUNTERS, *longer, "--json").out)["rows"]
    assert row["ratio"] == pytest.approx(long_run["ratio"], rel=0.05) and row["ratio"] > 150


def test_search_continues_until_every_line_was_fetched_from_memory() -> None:
    """Each of the 512 lines is fetched once. After that, operations hit in the cache."""
    (estimate,) = api.run("graviton2", "lock/granularity", [1], within="5%").estimated
    long_run = api.run("graviton2", "lock/granularity", [1], seeds=[1], ops=20000, warmup="200us")
    assert estimate.throughput == pytest.approx(rate_of(long_run.points[0]), rel=0.05)


def test_row_whose_throughput_contradicts_its_latencies_is_marked(uncore: Command) -> None:
    output = uncore("run", "x6130x2", "counter/percpu", "--threads", "1,64", "--set", "ops=100").out
    marked = [line for line in output.splitlines() if "! " in line]
    assert len(marked) == 4 and "64" in marked[1]
    assert "accounts for" in marked[3] and "(W3)" in " ".join(output.split())
    assert "! " not in uncore("run", "x6130x2", "counter/percpu", "--threads", "1,64").out


def test_result_of_a_search_is_independent_of_workers_and_resuming(uncore: Command) -> None:
    arguments = (*WITHIN, "--output", "a.json")
    hashes = set()
    for more in ((), ("--cores", "2"), ("--resume",)):
        assert uncore(*arguments, *more).status == 0
        result = load(Path("a.json"))
        hashes.add((result.result_hash, *(one.throughput for one in result.estimated)))
    assert len(hashes) == 1
    assert result.host.resumed == len(result.points)


def test_table_explains_its_confidence_interval(uncore: Command) -> None:
    output = uncore(*WITHIN).out
    (row,) = json.loads(uncore(*WITHIN[:-4], "--threads", "4", *WITHIN[-2:], "--json").out)
    assert "+- is half of a 95 % confidence interval of the median of" in output
    assert row["level"] == 95 and row["reached"] and row["steady_ps"]
    assert row["throughput_max"] - row["throughput_min"] <= 0.1 * row["throughput"]
    assert row["throughput"] == sorted(row["throughputs"])[(row["repeats"] - 1) // 2]


def test_compare_and_whatif_use_the_intervals_of_a_search(uncore: Command) -> None:
    sides = ("compare", "ring:4", "lock/mcs", "lock/ticket", "--threads", "4", "--within", "5%")
    comparison = json.loads(uncore(*sides, "--json").out)["rows"][0]
    assert comparison["a_max"] - comparison["a_min"] <= 0.101 * comparison["a"]
    look = ("whatif", "ring:4", "lock/mcs", "--threads", "4", "--within", "5%", "--only", "line")
    for row in json.loads(uncore(*look, "--json").out):
        assert row["throughput_min"] <= row["throughput"] <= row["throughput_max"]
        assert "--set duration=" in row["run"] and "--set warmup=" in row["run"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--set", "ops=9"), "finds out how long runs are; leave --set ops= out"),
        (("--set", "duration=1us"), "leave --set duration= out"),
        (("--seed", "none"), "leave --seed none out"),
        (("--within", "two"), "--within two: expected a share, such as 2%"),
        (("--within", "100%"), "--within 100%: expected less than 100%"),
    ],
)
def test_options_that_contradict_within_are_refused(
    uncore: Command, arguments: tuple[str, ...], says: str
) -> None:
    command = JOB if "--within" in arguments else WITHIN
    outcome = uncore(*command, *arguments)
    assert outcome.status == 2
    assert says in " ".join(outcome.err.split())


def test_within_is_refused_for_a_workload_without_operations(uncore: Command) -> None:
    outcome = uncore("run", "ring:4", "latency/pingpong", "--within", "2%")
    assert outcome.status == 2
    assert "so it says itself how long it runs" in outcome.err


# ---- The rounds of the search, with made-up runs instead of simulated ones


def search_made_up_runs(
    rate: Callable[[int, int], float],
    slowdown: Callable[[int, int], float] = lambda seed, ns: 0.0,
    threads: int = 4,
    fetched: float = 1.0,
    seeds: tuple[int, ...] = (1, 2, 3),
    cold_fetches: Callable[[int], int] = lambda ns: 0,
    has_steady_state: Callable[[int], bool] = lambda ns: True,
) -> tuple[Estimate, list[int], Job]:
    """Lets the search plan runs, and answers it with made-up outcomes. Returns its estimate, the
    number of runs in each round, and the job with which it ended.

    A run of `ns` nanoseconds completes `rate(seed, ns)` operations per microsecond.  From its start
    to its end it slows down by the fraction `slowdown(seed, ns)`.  Each operation fetches `fetched`
    lines, and `cold_fetches(ns)` lines of a run are fetched for the first time.  A run has a steady
    state if `has_steady_state(ns)` is true.
    """
    job = make_job("ring:8", "lock/mcs", [threads], within="5%", seeds=seeds)
    plan, rounds = enough.plan(job), []
    while points := plan.next_points():
        rounds.append(len(points))
        for point in points:
            ns, seed = int(dict(point.parameters)["duration"].removesuffix("ns")), point.seed or 0
            point_, observed = made_up_run(
                point, ns, rate(seed, ns), slowdown(seed, ns), fetched, cold_fetches(ns)
            )
            plan.add_outcome(
                point_ if has_steady_state(ns) else replace(point_, steady=None), observed
            )
    found_job, estimated = plan.job_and_estimates()
    return estimated[0], rounds, found_job


def made_up_run(
    job: Job, ns: int, rate: float, slowdown: float, fetched: float, cold_fetches: int
) -> tuple[Point, dict[str, Any]]:
    """Makes up the outcome of a run whose operations are evenly spaced except for the slowdown."""
    span = max(1, ns * 1000 // SPANS)
    ops = round(rate * ns / 1000)
    op_times = [(n + 1) * span * (1 + slowdown / 2 * (n / SPANS - 1)) for n in range(SPANS)]
    pace = Pace(0, SPANS * span, span, 0, [(1, round(time)) for time in op_times], cold_fetches)
    threads, unknown = job.threads[0], ("latency", "lines", "invalidations", "links", "resolvers")
    absent = dict.fromkeys((*unknown, "instructions", "events", "failed_scs", "steady"), "no")
    absent["transactions"] = "no"
    point = Point(
        threads=threads,
        seed=job.seed,
        ops=ops,
        elapsed_ps=ns * 1000,
        thread_ops=[ops // threads] * threads,
        steady=(10**6, round(10**12 / rate)) if rate else None,
        transfers={"memory": round(fetched * ops)},
        absent=absent,
    )
    return point, {"pace": pace}


def relative_half_width(estimated: Estimate) -> float:
    return (estimated.high - estimated.low) / 2 / estimated.throughput


def test_agreeing_runs_end_the_search_at_once() -> None:
    estimated, rounds, job = search_made_up_runs(lambda seed, ns: 100.0)
    assert rounds == [1, 1, 5]
    assert (
        relative_half_width(estimated) == pytest.approx(0.05 * enough.MIN_WIDTH_SHARE_OF_SEVERAL)
        and estimated.reached
    )
    assert job.lengths[0].duration == 96 * 4 * 10  # 96 lines of each of 4 threads


def test_interval_contains_what_cold_misses_may_still_change() -> None:
    """An operation of the longest runs has half as many cold misses as one of runs half as long. So
    without the other half, the rate would change once more by as much.
    """

    def grows(seed: int, ns: int) -> float:
        return 100 * (1 - 5000 / ns)

    estimated, _, job = search_made_up_runs(grows, cold_fetches=lambda ns: 10**6)
    length_ns = job.lengths[0].duration
    change = grows(1, length_ns) / grows(1, length_ns // 2) - 1
    assert change > 0.05 * enough.MIN_WIDTH_SHARE_OF_SEVERAL
    assert relative_half_width(estimated) == pytest.approx(change, rel=1e-3)


def test_three_runs_suffice_if_operations_hit_in_the_cache() -> None:
    _, rounds, job = search_made_up_runs(lambda seed, ns: 100.0, fetched=0.001)
    assert rounds == [1, 1, 2] and job.lengths[0].duration == enough.MIN_CACHE_HIT_RUN_NS


def test_search_with_few_fetched_lines_confirms_the_rate_with_a_doubled_run() -> None:
    def constant(seed: int, ns: int) -> float:
        return 100.0

    def drops_late(seed: int, ns: int) -> float:
        """A rare event makes operations slower, but only in runs of 40 us or more."""
        return 100.0 if ns < 2 * enough.MIN_CACHE_HIT_RUN_NS else 80.0

    for rate, times in ((constant, 2), (drops_late, 4)):
        _, rounds, job = search_made_up_runs(rate, fetched=0.1)
        assert rounds == [1] * (1 + times // 2) + [1, 2]
        assert job.lengths[0].duration == times * enough.MIN_CACHE_HIT_RUN_NS


def test_runs_double_while_their_misses_are_cold() -> None:
    first = 96 * 4 * 10  # ns
    _, rounds, job = search_made_up_runs(
        lambda seed, ns: 100.0, cold_fetches=lambda ns: 30
    )  # a run of length `ns` has ns / 10 fetches
    assert rounds == [1, 1, 5] and job.lengths[0].duration == first
    _, rounds, job = search_made_up_runs(lambda seed, ns: 100.0, cold_fetches=lambda ns: 200)
    assert job.lengths[0].duration == 8 * first  # 200 of 3072 fetches
    _, rounds, job = search_made_up_runs(lambda seed, ns: 100.0, cold_fetches=lambda ns: ns // 50)
    # The length is doubled only once, because longer runs have the same share of cold misses.
    assert job.lengths[0].duration == 2 * first


def test_run_measures_128_operations_however_many_lines_they_fetch() -> None:
    _, _, job = search_made_up_runs(lambda seed, ns: 100.0, threads=8, fetched=90.0)
    assert job.lengths[0].duration == 128 * 10  # at least 128 operations of all threads together
    assert job.lengths[0].warmup == (8 * 20 + 32 * 10)  # the late starts, and a quarter of the run


def test_run_whose_guessed_length_is_too_short_is_followed_by_a_longer_run() -> None:
    """The first run is brief and shows a quarter of the real rate, as if reading the clock took
    longer than the operations.
    """
    _, rounds, job = search_made_up_runs(
        lambda seed, ns: 25.0 if ns == enough.FIRST_RUN_NS else 100.0
    )
    assert rounds == [1, 1, 5] and job.lengths[0].duration == 96 * 4 * 40

    _, rounds, _ = search_made_up_runs(lambda seed, ns: 100.0, fetched=4.0)
    assert rounds == [1, 1, 5]


def test_outlier_makes_the_search_add_runs() -> None:
    estimated, rounds, _ = search_made_up_runs(lambda seed, ns: 14.0 if seed == 3 else 20.0)
    assert rounds == [1, 1, 5, 3]
    assert relative_half_width(estimated) < 0.05


def test_runs_become_longer_while_their_rate_changes_from_start_to_end() -> None:
    _, rounds, job = search_made_up_runs(lambda seed, ns: 20.0, lambda seed, ns: 4000 / ns)
    assert rounds == [1, 1, 5, 1, 5]  # half widths of the interval: 6.5 %, then 3.2 %
    assert job.lengths[0].duration == 2 * 96 * 4 * 50


def test_search_ends_at_its_budget_and_says_so() -> None:
    estimated, rounds, _ = search_made_up_runs(lambda seed, ns: 100 + 30 * (-1) ** seed)
    assert sum(rounds[1:]) >= enough.RUN_COUNTS[1] and not estimated.reached
    assert estimated.operations >= enough.BUDGET_OPS_PER_THREAD * 4


def test_search_makes_at_least_one_run_for_each_seed_of_the_job() -> None:
    _, rounds, _ = search_made_up_runs(lambda seed, ns: 100.0, seeds=tuple(range(5, 13)))
    assert rounds == [1, 1, 7]


def test_one_or_two_seeds_give_one_run_per_seed_and_no_interval() -> None:
    estimated, rounds, job = search_made_up_runs(lambda seed, ns: 100.0, seeds=(17,))
    assert rounds == [1, 1] and job.seeds == (17,) and not estimated.reached
    assert search_made_up_runs(lambda seed, ns: 100.0, seeds=(5, 9))[2].seeds == (5, 9)


def test_without_a_steady_state_runs_become_longer_and_the_rate_is_that_of_a_whole_run() -> None:
    estimated, rounds, _ = search_made_up_runs(lambda seed, ns: 0.0)
    assert estimated.throughput == 0 and len(rounds) > 3


def test_search_with_few_threads_continues_until_runs_have_a_steady_state() -> None:
    """The search may spend as much as a search with MIN_BUDGET_THREADS threads."""
    first = 96 * 4 * 10 // 2  # ns
    for times, reaches_steady_state in ((16, True), (64, True), (128, False)):
        steady_from_ns = times * first
        estimated, _, job = search_made_up_runs(
            lambda seed, ns: 100.0,
            fetched=2.0,
            has_steady_state=lambda ns, from_ns=steady_from_ns: (
                ns >= from_ns or ns == enough.FIRST_RUN_NS
            ),
        )
        assert estimated.operations > enough.BUDGET_OPS_PER_THREAD * 4
        assert (job.lengths[0].duration >= steady_from_ns) == reaches_steady_state


def test_runs_of_a_search_respect_the_limits_of_a_run() -> None:
    for fetched in (0.001, 1.0):
        _, _, job = search_made_up_runs(
            lambda seed, ns: 1e-4, fetched=fetched
        )  # an operation takes 10 ms
        length = job.lengths[0]
        assert 128 < length.duration / 1e6 <= 150 and length.warmup < 10**8


def test_random_start_delays_span_at_most_two_operations() -> None:
    # An operation takes 0.1 us in the first search and 10 us in the second.
    fast = search_made_up_runs(lambda seed, ns: 10.0, threads=8)[2].lengths[0].start
    slow = search_made_up_runs(lambda seed, ns: 0.1, threads=8)[2].lengths[0].start
    assert (fast, slow) == (2 * 10**5, 10**6)


def test_search_intervals_contain_the_median_in_92_of_100_cases() -> None:
    hits, tries = 0, 400
    for number in range(tries):
        draw = random.Random(number)
        estimated, _, _ = search_made_up_runs(lambda seed, ns, draw=draw: draw.gauss(100, 3))
        low, high = estimated.ends
        hits += low <= 10**8 <= high
    assert hits / tries >= 0.92
