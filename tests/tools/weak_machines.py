"""Do shipped workloads pass on cores as weak as RVWMO allows?

    python -m tests.tools.weak_machines [NAME]

Runs each workload of `lock/`, `epoch/`, `refcount/` and `counter/`, and each other workload that
states a memory order (or the named ones, or whole folders), once with each seed. The number of
harts (2 to 64), the machine and the pace vary from seed to seed. `--threads 8` runs every seed with
8 harts.

The output has a row for each block of seeds; `--first` continues an interrupted run. Each failure
is printed with the command that repeats it. At the end, the points and seeds of each number of
harts are printed. The exit status is 0 if every self-check passed, otherwise 1.
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from functools import cache

from tests.fences import page
from tests.tools import catalogue

from uncore import program
from uncore.errors import GuestError, UserError
from uncore.execution.execute import execute
from uncore.execution.request import make_job
from uncore.job import Job
from uncore.program import Program
from uncore.result import Point
from uncore.study.fences.trials import PACES, SMALL_PARAMETERS, WEAK_ORDER

MACHINES = ("ccx:8x8", "mesh", "epyc7601x2")
THREADS = (2, 4, 8, 16, 32, 64)
TOTAL_OPERATIONS = 160  # sum over all harts, but each hart executes a minimum
BLOCK = 100  # seeds in each row of the output


def workloads(names: Sequence[str] = ()) -> list[Program]:
    """Returns the named workloads, or all workloads whose outcome could depend on memory order."""
    if names:
        return catalogue.selected(names)
    on_page = page.workloads()
    return [
        workload
        for workload in program.shipped()
        if workload.name in on_page or _has_orders(workload)
    ]


def _has_orders(workload: Program) -> bool:
    return bool(page.source_of(workload.name).orders)


def point(workload: Program, seed: int, threads: Sequence[int] = THREADS) -> Job:
    """Returns the job of one seed. Its machine, number of harts and pace depend on the seed."""
    turn, harts = divmod(seed, len(threads))
    turn, machine = divmod(turn, len(MACHINES))
    curve = _curve(workload, threads[harts], MACHINES[machine], turn % len(PACES))
    return dataclasses.replace(curve, seeds=(seed,))


@cache
def _curve(workload: Program, threads: int, machine: str, pace: int) -> Job:
    parameters, chance = PACES[pace]
    settings = {parameter.name for parameter in workload.params}
    values = {
        name: value
        for name, value in {**SMALL_PARAMETERS, **parameters}.items()
        if name in settings
    }
    values |= catalogue.parameters(workload, threads, TOTAL_OPERATIONS)
    overrides = {**WEAK_ORDER, **chance}
    return make_job(machine, workload, (threads,), parameters=values, overrides=overrides)


def run_block(jobs: Sequence[Job], cores: int) -> list[str]:
    """Runs the jobs. Returns a message for each failure."""
    failures: list[str] = []

    def note_failure(job: Job, message: str) -> None:
        settings = " ".join(f"{name}={value}" for name, value in job.parameters + job.overrides)
        arguments = f"{job.machine.id} --threads {job.threads[0]} --seed {job.seed} {settings}"
        failures.append(f"{job.program.name} on {arguments}\n  {message}")

    def note_failures(job: Job, ended: Point) -> None:
        for failure in ended.failures:
            note_failure(job, failure)

    def note_error(job: Job, error: GuestError) -> None:
        note_failure(job, str(error))

    results = execute(jobs, cores, note_failures, note_error)
    if any(result.outcome.partial for result in results) and not failures:
        raise KeyboardInterrupt
    return failures


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="tests.tools.weak_machines")
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--first", type=int, default=1, metavar="SEED")
    parser.add_argument("--seeds", type=int, default=1000, help="runs of each workload")
    parser.add_argument("--threads", default=",".join(map(str, THREADS)))
    parser.add_argument("--cores", type=int, default=os.cpu_count() or 1)
    arguments = parser.parse_args(argv)
    threads = [int(word) for word in arguments.threads.split(",")]
    programs = workloads(arguments.names)
    seeds = range(arguments.first, arguments.first + arguments.seeds)
    points: Counter[int] = Counter()
    seeds_by_harts: dict[int, set[int]] = defaultdict(set)
    failures = 0
    for start in range(0, len(seeds), BLOCK):
        block = seeds[start : start + BLOCK]
        start_time = time.perf_counter()
        jobs = [point(workload, seed, threads) for seed in block for workload in programs]
        failed = run_block(jobs, arguments.cores)
        failures += len(failed)
        for job in jobs:
            points[job.threads[0]] += 1
            seeds_by_harts[job.threads[0]].add(job.seeds[0])
        numbers = f"{len(jobs):>6,} points, {len(failed)} failures"
        seconds = time.perf_counter() - start_time
        print(f"seeds {block[0]} to {block[-1]}: {numbers}, {seconds:.0f} s", *failed, sep="\n")
        sys.stdout.flush()
    print(f"{len(programs)} workloads on {', '.join(MACHINES)}:")
    for harts in sorted(points):
        print(
            f"{harts:>4} harts: {points[harts]:>6,} points, {len(seeds_by_harts[harts]):>5,} seeds"
        )
    print(f"{points.total():,} points, {len(seeds):,} seeds, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except UserError as error:
        sys.exit(f"tests.tools.weak_machines: {error}")
    except KeyboardInterrupt:
        sys.exit(130)
