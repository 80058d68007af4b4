"""The command `demo`: simulates one machine and draws the answers to two questions.

The questions are how long a line takes to pass between any two of 128 hardware threads, and how
that affects locks. No measured matrix of that machine was published. A smaller machine with the
same dies was measured, so it is simulated too and compared with its measured figures.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

from uncore.cli.options import Plot, workers
from uncore.cli.status import FAILED, INTERRUPTED, OK
from uncore.drawing.panels import Panel
from uncore.drawing.plot import picture
from uncore.drawing.progress import progress
from uncore.drawing.table import say
from uncore.execution.execute import execute
from uncore.execution.pool import Workers
from uncore.execution.request import make_job, usual_seeds
from uncore.job import Job
from uncore.job.option_values import check_outputs
from uncore.report import chart, curve
from uncore.result import Point, Result
from uncore.study import matrix
from uncore.support.paths import CHECKOUT

MACHINE, MEASURED_MACHINE = "epyc7601x2", "tr1950x"
DEMO_LOCKS = ("lock/ticket", "lock/mcs")
THREADS = "1,2,4..128"


def _measure_pairs(name: str, cores: Workers) -> matrix.Matrix:
    return matrix.measure(
        name,
        ipi=False,
        overrides={},
        smt=True,
        as_measured=name == MEASURED_MACHINE,
        seeds=partial(usual_seeds, "native"),
        workers=cores,
    )


def _panels(large: matrix.Matrix, results: list[Result], small: matrix.Matrix) -> list[Panel]:
    """Returns the three panels. Their titles name the machine, because the third panel shows
    another one.
    """
    (curves,) = chart.panels(results)
    titles = (
        f"{large.machine.name}: a line's way between two harts",
        f"{large.machine.name}: what it does to locks",
        f"Checked on the same dies: {small.machine.name.removeprefix('AMD Ryzen ')}",
    )
    panels = (matrix.panel(large), curves, matrix.comparison(small))
    return [replace(panel, title=title) for panel, title in zip(panels, titles, strict=True)]


def demo(*, plot: Plot = None) -> int:
    path = plot or (CHECKOUT / "build" if CHECKOUT else Path()) / "uncore-demo.png"
    check_outputs({"--plot": path})
    jobs = [make_job(MACHINE, lock, THREADS, seeds=None, within=None) for lock in DEMO_LOCKS]
    unfinished = {(job.program.name, threads) for job in jobs for threads in job.threads}
    total = 2 + len(unfinished)
    cores = workers(0)
    with progress(total, "simulating 2x EPYC 7601", "runs") as advance:
        matrices = []
        for name in (MACHINE, MEASURED_MACHINE):
            matrices.append(_measure_pairs(name, cores))
            advance(1)

        def count_run(job: Job, point: Point) -> None:
            """Advances the bar at the first run of each thread count, since the number of runs is
            not known in advance.
            """
            if (point_key := (job.program.name, point.threads)) in unfinished:
                unfinished.remove(point_key)
                advance(1)

        results = execute(jobs, cores, count_run)
    for measured in matrices:
        matrix.show(measured, as_json=False)
    curve.show(results, as_json=False)
    large, small = matrices
    say(f"picture: {picture(path, *_panels(large, results, small))}")
    if any(result.outcome.partial for result in results):
        return INTERRUPTED
    failed = any(measured.failed for measured in matrices) or any(
        result.failed for result in results
    )
    return FAILED if failed else OK
