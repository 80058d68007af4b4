"""Do shipped workloads pass on cores as weak as RVWMO allows?

    python -m tests.tools.weak_machines [NAME]

Runs each workload of `lock/`, `epoch/`, `refcount/` and `counter/`, and each other one that states
an order (or those named, or whole folders), once with each seed.  The number of harts (2 to 64),
the machine and the pace take turns from seed to seed.  `--threads 8` runs every seed at 8.

There is a row for each block of seeds; `--first` continues an interrupted run.  Each failure is
printed with the command that repeats it; at the end, the points and seeds of each number of harts.
Exit status: 0 if every self-check held, else 1.
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
TOTAL_OPERATIONS = 160  # sum over all harts; each hart gets a minimum
BLOCK = 100  # seeds in each row of the output


def workloads(names: Sequence[str] = ()) -> list[Program]:
    """Returns the workloads that are named, or all whose outcome could depend on an order."""
    if names:
        return catalogue.chosen(names)
    asked = page.workloads()
    return [
        workload
        for workload in program.shipped()
        if workload.name in asked or _has_orders(workload)
    ]


def _has_orders(workload: Program) -> bool:
    return bool(page.source_of(workload.name).orders)


def point(workload: Program, seed: int, threads: Sequence[int] = THREADS) -> Job:
    """Returns the job of one seed: its machine, number of harts and pace depend on the seed."""
    turn, harts = divmod(seed, len(threads))
    turn, machine = divmod(turn, len(MACHINES))
    curve = _curve(workload, threads[harts], MACHINES[machine], turn % len(PACES))
    return dataclasses.replace(curve, seeds=(seed,))


@cache
def _curve(workload: Program, threads: int, machine: str, pace: int) -> Job:
    parameters, chance = PACES[pace]
    settings = {parameter.name for parameter in workload.params}
    usual = {
        name: value
        for name, value in {**SMALL_PARAMETERS, **parameters}.items()
        if name in settings
    }
    usual |= catalogue.parameters(workload, threads, TOTAL_OPERATIONS)
    overrides = {**WEAK_ORDER, **chance}
    return make_job(machine, workload, (threads,), parameters=usual, overrides=overrides)


def block(jobs: Sequence[Job], cores: int) -> list[str]:
    """Runs the jobs; returns a message for each failure."""
    failures: list[str] = []

    def failed(job: Job, what: str) -> None:
        settings = " ".join(f"{name}={value}" for name, value in job.parameters + job.overrides)
        where = f"{job.machine.id} --threads {job.threads[0]} --seed {job.seed} {settings}"
        failures.append(f"{job.program.name} on {where}\n  {what}")

    def done(job: Job, ended: Point) -> None:
        for failure in ended.failures:
            failed(job, failure)

    def wrong(job: Job, error: GuestError) -> None:
        failed(job, str(error))

    results = execute(jobs, cores, done, wrong)
    if any(result.outcome.partial for result in results) and not failures:
        raise KeyboardInterrupt
    return failures


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="tests.tools.weak_machines")
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--first", type=int, default=1, metavar="SEED")
    parser.add_argument("--seeds", type=int, default=1000, help="runs of each workload")
    parser.add_argument("--threads", default=",".join(map(str, THREADS)))
    parser.add_argument("--cores", type=int, default=os.cpu_count() or 1)
    arguments = parser.parse_args(words)
    threads = [int(word) for word in arguments.threads.split(",")]
    programs = workloads(arguments.names)
    seeds = range(arguments.first, arguments.first + arguments.seeds)
    points: Counter[int] = Counter()
    seen: dict[int, set[int]] = defaultdict(set)
    failures = 0
    for start in range(0, len(seeds), BLOCK):
        part = seeds[start : start + BLOCK]
        began = time.perf_counter()
        jobs = [point(workload, seed, threads) for seed in part for workload in programs]
        failed = block(jobs, arguments.cores)
        failures += len(failed)
        for job in jobs:
            points[job.threads[0]] += 1
            seen[job.threads[0]].add(job.seeds[0])
        numbers = f"{len(jobs):>6,} points, {len(failed)} failures"
        spent = time.perf_counter() - began
        print(f"seeds {part[0]} to {part[-1]}: {numbers}, {spent:.0f} s", *failed, sep="\n")
        sys.stdout.flush()
    print(f"{len(programs)} workloads on {', '.join(MACHINES)}:")
    for harts in sorted(points):
        print(f"{harts:>4} harts: {points[harts]:>6,} points, {len(seen[harts]):>5,} seeds")
    print(f"{points.total():,} points, {len(seeds):,} seeds, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except UserError as error:
        sys.exit(f"tests.tools.weak_machines: {error}")
    except KeyboardInterrupt:
        sys.exit(130)
