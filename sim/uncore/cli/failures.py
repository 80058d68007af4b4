"""Prints notes on failed runs on weakly ordered cores: their seeds, and reordered accesses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from uncore import engine
from uncore.cli.options import note
from uncore.engine import EngineOptions
from uncore.job import Job
from uncore.result import Result


def explain(
    jobs: Sequence[Job],
    results: Sequence[Result],
    failed_jobs: Sequence[Job],
    engine_options: EngineOptions,
) -> None:
    """Prints notes on the first failed seed of each thread count of each job."""
    for job, result in zip(jobs, results, strict=True):
        if not any(core.order == "weak" for core in job.machine.each_core):
            continue
        for threads in job.threads:
            if seeds := sorted(_failed_seeds(job, result, failed_jobs, threads)):
                _explain(job.at(threads, seeds[0]), seeds, engine_options)


def _failed_seeds(
    job: Job, result: Result, failed_jobs: Sequence[Job], threads: int
) -> Iterator[int]:
    for point in result.points:
        if point.threads == threads and point.failures and isinstance(point.seed, int):
            yield point.seed
    for repeat in job.points():
        if repeat in failed_jobs and repeat.threads == (threads,) and repeat.seed is not None:
            yield repeat.seed


def _explain(job: Job, seeds: Sequence[int], engine_options: EngineOptions) -> None:
    from uncore.engine.native.reordered import describe_reordering  # noqa: PLC0415 (slow to load)

    seed_list = ", ".join(map(str, seeds))
    note(
        f"{job.machine.id} at {job.threads[0]} threads: fails with"
        f" seed{'s' * (len(seeds) > 1)} {seed_list}: rerun with --seed {seeds[0]} --repeat 1"
    )
    if lines := describe_reordering(job, engine.watched(job, engine_options)):
        note(lines)
