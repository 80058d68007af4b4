"""Does each rule of docs/model.md on measuring (W) hold, in both engines?"""

from __future__ import annotations

from typing import Any

import pytest
from tests.support.runs import job

from uncore import engine
from uncore.result import Point
from uncore.result.schema import Latency

ENGINES = ("native", "reference")
TIMED = {"duration": "4us", "warmup": "6us"}  # four harts start within 4 us (V3)


def point(name: str, threads: int = 4, **settings: Any) -> dict[str, Any]:
    job_ = job("ring:4", "lock/ticket", threads, seeds=(1,), **settings)
    return engine.load(name).run(job_, frozenset(), lambda *_: None)


@pytest.mark.parametrize("name", ENGINES)
def test_warm_up_operations_are_not_counted_and_have_no_latency(name: str) -> None:
    """W1.1: warm-up operations still take effect, which the workload's own check verifies."""
    without_warm_up, warm = point(name, ops=20), point(name, ops=20, warmup="6us")
    assert without_warm_up["ops"] == warm["ops"] == 80
    assert warm["instructions"] > 1.2 * without_warm_up["instructions"]
    begins = [begin for begin, _ in warm["thread_ps"]]
    assert max(begins) < 0.2 * warm["elapsed_ps"]  # the warm-up contains the late starts (V3)
    assert warm["latency"]["p50"] > 2 * point(name, threads=1, ops=20)["latency"]["p50"]


@pytest.mark.parametrize("name", ENGINES)
def test_every_hart_executes_operations_from_start_to_end_of_a_timed_run(name: str) -> None:
    outcome = point(name, **TIMED)
    begins, ends = zip(*outcome["thread_ps"], strict=True)
    longest = outcome["latency"]["max"]  # an operation that begins before the end is completed
    assert (
        max(begins) <= longest and min(ends) >= 4_000_000 and max(ends) <= 4_000_000 + 2 * longest
    )


@pytest.mark.parametrize("name", ENGINES)
def test_clock_reads_slow_down_small_batches(name: str) -> None:
    rates = [
        ops * 1000 / ps
        for batch in (1, 64)
        for outcome in [
            engine.load(name).run(
                job("ring:4", "counter/percpu", 1, seeds=(1,), unclocked=batch, **TIMED),
                frozenset(),
                lambda *_: None,
            )
        ]
        for ops, ps in [outcome["steady"]]
    ]
    assert rates[1] > 1.5 * rates[0]


@pytest.mark.parametrize("name", ENGINES)
def test_operations_reported_in_a_batch_are_spread_over_its_time(name: str) -> None:
    """W2: harts in lockstep report their batches at the same time, and the rate still does not
    depend on the length of the run.
    """
    runs = [
        engine.load(name).run(
            job("ring:4", "counter/contended", 4, duration=length),
            frozenset(),
            lambda *_: None,
        )
        for length in ("2us", "60us")
    ]
    short, long = (ops / ps for outcome in runs for ops, ps in [outcome["steady"]])
    assert short == pytest.approx(long, rel=0.05)


def make_point(**fields: Any) -> Point:
    absent = dict.fromkeys(("transfers", "lines", "invalidations", "links", "resolvers"), "no")
    absent |= dict.fromkeys(("instructions", "transactions", "events", "failed_scs"), "no")
    absent["steady"] = "no"
    latency = Latency(p50=1, p90=1, p99=1, max=1)
    defaults = {
        "threads": 2,
        "thread_ops": [50, 50],
        "ops": 100,
        "latency": latency,
        "absent": absent,
    }
    return Point(**{**defaults, **fields})


def test_accounted_share_is_the_rate_times_the_latency_per_thread() -> None:
    """W3: the share is the rate times the time of an operation, divided by the number of threads
    that took part.
    """
    overlapping = make_point(elapsed_ps=1000, thread_ps=[(0, 1000), (0, 1000)], steady=(50, 500))
    assert overlapping.accounted == 1 and overlapping.throughput == 10**11
    successive = make_point(elapsed_ps=10_000, thread_ps=[(0, 1000), (9000, 10_000)], steady=None)
    assert successive.accounted == pytest.approx(0.1)
    single = make_point(elapsed_ps=1000, thread_ps=[(0, 1000), (0, 0)], steady=(50, 500))
    assert single.accounted == 1  # only one thread took part


def test_a_point_without_a_steady_state_has_the_rate_of_the_whole_run() -> None:
    """W2.3: without a steady state, the rate is that of the whole run."""
    assert make_point(elapsed_ps=1000, steady=None, thread_ps=[(0, 9)] * 2).throughput == 10**11


@pytest.mark.parametrize("name", ENGINES)
def test_fetch_of_a_line_during_warm_up_is_not_counted(name: str) -> None:
    """W1.1: the hart fetches its counter's line once, and then only hits."""
    counts = [
        engine.load(name).run(
            job("ring:4", "counter/percpu", 1, seeds=(1,), duration="1us", **options),
            frozenset(),
            lambda *_: None,
        )["transfers"]
        for options in ({}, {"warmup": "6us"})
    ]
    assert counts[0]["memory"] > counts[1]["memory"]


def test_engines_agree_on_the_steady_state_of_late_harts() -> None:
    """W2: without a warm-up, harts enter the measured part one after another."""
    settings: dict[str, Any] = {"duration": "12us", "seeds": (2,)}
    native, reference = (
        engine.load(name).run(
            job("ring:4", "counter/atomic", 4, **settings), frozenset(), lambda *_: None
        )
        for name in ENGINES
    )
    assert native["steady"] == reference["steady"] is not None
    entered = max(begin for begin, _ in native["thread_ps"])
    assert native["steady"][1] < native["elapsed_ps"] - entered


def test_last_measured_threads_see_as_much_contention_as_the_first() -> None:
    """W1.1: threads continue after their measured part. If they stopped, the last ones at a ticket
    lock would be faster.
    """
    settings = {"duration": "40us", "warmup": "20us", "unclocked": 5, "seeds": (1,)}
    point = engine.run(job("graviton2", "lock/ticket", 16, **settings), frozenset())
    result = make_point(
        **{name: point[name] for name in ("ops", "elapsed_ps", "steady", "thread_ps")}
    )
    assert result.accounted == pytest.approx(1, abs=0.1)


@pytest.mark.parametrize("name", ENGINES)
def test_only_the_first_fetch_of_a_line_is_a_cold_miss(name: str) -> None:
    """W4.3: a miss is not cold if the line was evicted before, or was first fetched during the
    warm-up.
    """
    small = {"core.l1": "1KiB 1-way 4cy", "core.l2": "2KiB 1-way 14cy"}
    overrides = {**small, "system.data": "inclusive 16KiB 1-way 10cy"}

    def memory_and_cold(workload: str, threads: int, **settings: Any) -> tuple[int, int]:
        job_ = job("ring:4", workload, threads, seeds=(1,), **settings)
        point = engine.load(name).run(job_, frozenset({"pace"}), lambda *_: None)
        return point["transfers"]["memory"], point["observed"]["pace"]["cold_misses"]

    memory, cold = memory_and_cold("latency/chase", 1, overrides=overrides)
    assert 256 <= cold < memory - 16  # 4 rounds, each on 64 lines of its own
    memory, cold = memory_and_cold("lock/ticket", 4, ops=20)
    assert memory == cold > memory_and_cold("lock/ticket", 4, ops=20, warmup="6us")[1]
