"""Does `uncore whatif` run each change as often and as long as the comparison needs, not more?"""

from __future__ import annotations

import json
import shlex
from dataclasses import replace
from functools import cache

import msgspec
import pytest

from uncore.execution.comparison import Comparison
from uncore.execution.execute import execute
from uncore.execution.request import make_job
from uncore.job import Job
from uncore.job.job import Length
from uncore.result import Point

WITHIN_5_PERCENT = 50_000
JOB = make_job("ccx:2x2", "lock/ticket", "4", parameters={"ops": 50}, seeds=range(1, 10))
LENGTH = Length(4, 2, 9, 100_000, 8000, 2000)


@cache
def unchanged() -> tuple[Point, ...]:
    return tuple(execute([JOB])[0].points)


def job_with(**overrides: str) -> Job:
    dotted = {key.replace("_", "."): value for key, value in overrides.items()}
    machine = make_job("ccx:2x2", "lock/ticket", "4", overrides=dotted).machine
    return replace(JOB, machine=machine)


def test_change_that_does_not_concern_the_program_has_one_run() -> None:
    job = job_with(interrupt_send="1us")
    plan = Comparison(job, unchanged(), WITHIN_5_PERCENT)
    (result,) = execute([job], plans=[plan])
    assert plan.equals_unchanged
    assert [point.seed for point in result.points] == [1]


def rated(point: Point, factor: float) -> Point:
    """Returns the point with `factor` times its rate."""
    ops, ps = point.measured
    return msgspec.structs.replace(point, steady=(ops, round(ps / factor)))


@pytest.mark.parametrize(
    ("factors", "runs"),
    [
        ((1.01, 0.995, 1.0), 3),  # no effect
        ((1.030, 1.034, 1.025), 9),  # a small effect, but chance differs as much
        ((1.0300, 1.0301, 1.0300), 3),  # a small effect, and the same chance in both
        ((1.20, 1.21, 1.19), 3),  # a large effect
        ((1.2, 1.5, 1.3), 9),  # a large effect, but of unknown size
    ],
)
def test_number_of_runs_follows_from_the_size_of_the_effect_and_its_chance(
    factors: tuple[float, ...], runs: int
) -> None:
    by_chance = (1.0, 1.02, 0.98, 1.01, 0.99, 1.0, 1.02, 0.98, 1.0)
    base = [rated(unchanged()[0], factor) for factor in by_chance]
    base = [msgspec.structs.replace(point, seed=seed) for seed, point in enumerate(base, 1)]
    plan = Comparison(JOB, base, WITHIN_5_PERCENT)
    made = 0
    while points := plan.next_points():
        for _ in points:
            plan.add_outcome(rated(base[made], factors[made % len(factors)]), {})
            made += 1
    assert made == runs


@pytest.mark.parametrize(("speedup", "duration"), [(1.5, 8000), (4.0, 2000)])
def test_faster_program_runs_for_a_shorter_time(speedup: float, duration: int) -> None:
    plan = Comparison(JOB, unchanged(), WITHIN_5_PERCENT, LENGTH)
    (trial,) = plan.next_points()
    assert dict(trial.parameters)["duration"] == "1000ns"
    plan.add_outcome(rated(unchanged()[0], speedup), {})
    (first,) = plan.next_points()
    assert dict(first.parameters).get("duration", "8000ns") == f"{duration}ns"


def test_command_of_a_row_repeats_its_run_if_the_length_was_searched(uncore) -> None:
    arguments = ("graviton2", "lock/ticket", "--threads", "32", "--with", "core.hold=40cy")
    outcome = uncore("whatif", *arguments, "--only", "line", "--only", "number", "--json")
    rows = json.loads(outcome.out)
    (free,) = (row for row in rows if row["kind"] == "line" and row["throughput_change"] > 1)
    (hold,) = (row for row in rows if row["change"].startswith("core.hold 40cy -> 32"))
    for row in (free, hold):
        repeated = json.loads(uncore(*shlex.split(row["run"])[1:], "--json").out)
        assert repeated[0]["throughput"] == row["throughput"], row["run"]
