"""Does every workload run at every size? `python -m tests.tools.catalogue [NAME...]`.

Runs each shipped workload (or the named ones, or whole folders) on a machine with two EPYC 7742, at
1, 2, 4, 64 and 256 threads, and prints one row per run, with its parameters. The more harts there
are, the fewer operations each executes, so that no run takes more than a few seconds. The exit
status is 0 if every self-check passed, otherwise 1. tests/guest runs the small thread counts.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from uncore import program
from uncore.errors import GuestError, UserError
from uncore.execution import request
from uncore.execution.execute import execute
from uncore.job import Job
from uncore.program import Program
from uncore.result import Point

MACHINE = "epyc7742x2"
THREADS = (1, 2, 4, 64, 256)
SMALL_THREAD_COUNTS = (1, 2, 4)

TOTAL_OPERATIONS = 2000  # sum over all harts, but each executes at least MIN_HART_OPERATIONS
MIN_HART_OPERATIONS = 4
MAX_HART_OPERATIONS = 100

# Parameters of workloads that have no parameter `ops`, or whose operations take much longer than
# those of others.
TOURNAMENT = {"pairs": "one", "rounds": "10"}
PARAMETERS = {
    "ipi/ipiq": TOURNAMENT,
    "ipi/pingpong": TOURNAMENT,
    "latency/pingpong": TOURNAMENT,
}


def parameters(
    workload: Program, threads: int, operations: int = TOTAL_OPERATIONS
) -> dict[str, str]:
    """Returns a workload's parameters for a thread count. `operations` is the sum over all
    threads.
    """
    names = {parameter.name for parameter in workload.params}
    values = dict(PARAMETERS.get(workload.name, {}))
    if values.get("pairs") == "one":
        if threads == 1:
            del values["pairs"]  # a single thread has no partner
        else:
            values["b"] = str(threads - 1)
    elif "ops" in names:
        values.setdefault(
            "ops", str(max(MIN_HART_OPERATIONS, min(MAX_HART_OPERATIONS, operations // threads)))
        )
    return values


def job(workload: Program, threads: int) -> Job:
    """Returns the job of one row of the output."""
    values = parameters(workload, threads)
    return request.make_job(MACHINE, workload, (threads,), parameters=values)


def selected(names: Sequence[str]) -> list[Program]:
    """Returns the workloads with these names or in these folders, or all workloads if there are no
    names.
    """
    all_workloads = program.shipped()
    folders = {workload.name.partition("/")[0] for workload in all_workloads}
    workloads = [w for w in all_workloads if not names or w.name.partition("/")[0] in names]
    return workloads + [program.find(name) for name in names if name not in folders]


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="tests.tools.catalogue")
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--threads", default=",".join(map(str, THREADS)))
    arguments = parser.parse_args(argv)
    counts = [int(word) for word in arguments.threads.split(",")]
    jobs = [job(workload, threads) for workload in selected(arguments.names) for threads in counts]
    failures: list[str] = []

    def print_row(job_: Job, end: str) -> None:
        settings = " ".join(f"{name}={value}" for name, value in job_.parameters)
        print(f"{job_.program.name:<24} {job_.threads[0]:>4}  {end:<24} {settings}", flush=True)

    def note_result(job_: Job, point: Point) -> None:
        print_row(job_, f"{point.ops} operations" if not point.failures else point.failures[0])
        failures.extend(point.failures)

    def note_error(job_: Job, error: GuestError) -> None:
        print_row(job_, str(error))
        failures.append(str(error))

    results = execute(jobs, os.cpu_count() or 1, note_result, note_error)
    seconds = [sum(result.host.seconds) for result in results]
    print(f"{len(jobs)} runs, {len(failures)} failures, {sum(seconds):.0f} host s")
    slowest = sorted(zip(seconds, jobs, strict=True), key=lambda pair: -pair[0])[:5]
    for seconds_of_job, job_ in slowest:
        print(f"  {seconds_of_job:6.1f} s  {job_.program.name} at {job_.threads[0]}")
    return 1 if failures else 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except UserError as error:
        sys.exit(f"tests.tools.catalogue: {error}")
