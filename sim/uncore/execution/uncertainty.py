"""Runs a job on machines that are sampled from a machine file whose numbers have intervals.

    execute_with_samples(jobs, machines, ...) results of jobs, with intervals of their throughput
    numbers_with_intervals(machine)           the numbers that have an interval; --with removes it
    samples(name, job, count)                 the job on `count` sampled machines; `name` is the
                                              name of its machine
    sampled_jobs(names, jobs, count)          samples of each job; [] if no number has an interval
    with_intervals(results, groups, drawn)    the results, with the interval of throughput that
                                              their samples span

An interval contains the true number in four of five cases (docs/prediction.md). So a number is
drawn from a log-normal distribution, with the interval's ends as the first and ninth decile. The
machines are a Latin hypercube sample: each number takes a value from each part of its distribution
once, in an order that follows from its interval and its source; keys with the same interval and
source are the same number. So the machines are the same on any host, and few of them suffice.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import exp, log
from random import Random
from statistics import NormalDist

import msgspec

from uncore import topology
from uncore.engine import NO_OPTIONS, EngineOptions
from uncore.errors import UserError
from uncore.execution.execute import execute
from uncore.execution.pool import Workers
from uncore.job import Job
from uncore.result.schema import Interval, Result
from uncore.topology.machine import Machine, Number
from uncore.topology.units import NUMBER

DEFAULT_SAMPLES = 10
TAIL_SHARE = 0.1  # share of the true values below an interval, and also above it
NUMBER_AND_UNIT_PATTERN = re.compile(rf"{NUMBER}\s*(.*)")


def execute_with_samples(
    jobs: Sequence[Job],
    machines: Sequence[str | Machine],
    *,
    cores: Workers = 1,
    samples: int = DEFAULT_SAMPLES,
    observed: bool = False,
    engine_options: EngineOptions = NO_OPTIONS,
) -> list[Result]:
    """Executes jobs and their samples; returns the results that have at least one point.

    `machines` has the name or the machine of each job; samples are drawn only by name.
    """
    drawn = sampled_jobs(machines, jobs, samples)
    observers = frozenset({"lines"} if observed else ())
    all_ = [*jobs, *(job for group in drawn for job in group)]
    results = execute(all_, cores, observers=observers, engine_options=engine_options)
    widened = with_intervals(results[: len(jobs)], drawn, results[len(jobs) :])
    if finished := [result for result in widened if result.points]:
        return finished
    raise KeyboardInterrupt


def numbers_with_intervals(machine: Machine) -> list[Number]:
    return [number for number in machine.numbers if number.interval]


def samples(name: str, job: Job, count: int) -> list[Job]:
    """Returns jobs of a single run each, with the job's seeds in turn, because random draws are
    part of the uncertainty.
    """
    drawn = {
        entry.key: _sample_values(entry, count) for entry in numbers_with_intervals(job.machine)
    }
    overrides = [f"{key}={value}" for key, value in job.overrides]
    jobs = []
    for number in range(count):
        settings = [f"{key}={texts[number]}" for key, texts in drawn.items()]
        machine = topology.load(name, [*overrides, *settings])
        seed_index = number % max(len(job.seeds), 1)
        jobs.append(
            replace(job, machine=machine, seeds=job.seeds[seed_index : seed_index + 1], within=0)
        )
    return jobs


def sampled_jobs(
    names: Sequence[str | Machine], jobs: Sequence[Job], count: int
) -> list[list[Job]]:
    """Returns the samples of each job; none for a machine given without a name."""
    return [
        samples(name, job, count)
        if isinstance(name, str) and numbers_with_intervals(job.machine)
        else []
        for name, job in zip(names, jobs, strict=True)
    ]


def with_intervals(
    results: Sequence[Result], groups: Sequence[Sequence[Job]], drawn: Sequence[Result]
) -> list[Result]:
    """Adds intervals to results; `drawn` has the results of the jobs of all groups, in order."""
    remaining = iter(drawn)
    return [
        _with_intervals(result, [next(remaining) for _ in group])
        for result, group in zip(results, groups, strict=True)
    ]


def _with_intervals(result: Result, drawn: Sequence[Result]) -> Result:
    rates: dict[int, list[int]] = {}
    for point in (point for sample in drawn for point in sample.points):
        rates.setdefault(point.threads, []).append(point.throughput or 0)
    intervals = [
        Interval(n, len(group_rates), *span(group_rates)) for n, group_rates in rates.items()
    ]
    return msgspec.structs.replace(result, intervals=intervals) if intervals else result


def span(values: Iterable[int]) -> tuple[int, int]:
    """Returns the smallest and the largest value after a tenth of the values is dropped at either
    end.
    """
    ordered = sorted(values)
    dropped = int(len(ordered) * TAIL_SHARE)
    return ordered[dropped], ordered[-1 - dropped]


def _sample_values(number: Number, count: int) -> list[str]:
    assert number.interval
    (low, unit), (high, high_unit) = (_parts(number, end) for end in number.interval)
    if unit != high_unit or not 0 < low <= high:
        raise _no_interval(number)
    middle, deviation = log(low * high) / 2, log(high / low) / 2 / -NormalDist().inv_cdf(TAIL_SHARE)
    values = [
        exp(middle + deviation * NormalDist().inv_cdf((part + 0.5) / count))
        for part in range(count)
    ]
    Random(f"{number.interval} {number.source}").shuffle(values)
    return [_format_value(value, unit, number.interval) for value in values]


def _parts(number: Number, text: str) -> tuple[float, str]:
    match = NUMBER_AND_UNIT_PATTERN.fullmatch(text.strip())
    if not match:
        raise _no_interval(number)
    return float(match[1]), match[2]


def _no_interval(number: Number) -> UserError:
    return UserError(
        f"{number.file}:{number.line}: '{number.key}': the interval"
        f" {list(number.interval or ())} cannot be drawn from: expected two quantities"
        " above zero, of one unit, the smaller first"
    )


def _format_value(value: float, unit: str, interval: Sequence[str]) -> str:
    """Formats a value with its unit, as a whole number if both ends of the interval are whole."""
    is_count = not unit and all("." not in end for end in interval)
    return f"{round(value) if is_count else f'{value:.6f}'}{unit}"
