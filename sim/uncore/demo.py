"""The demonstration `scripts/run` shows: one machine, two questions, one picture.

What does a line cost between any two of 128 hardware threads, and what does that do to a lock?
Measured figures stand beside the simulated ones where the project carries them.
"""

from __future__ import annotations

from pathlib import Path

from uncore import matrix
from uncore.api import make_job
from uncore.execute import execute
from uncore.paths import CHECKOUT
from uncore.report import curve, plot
from uncore.report.progress import progress
from uncore.report.table import console

MACHINE = "epyc7601x2"
LOCKS = ("lock/ticket", "lock/mcs")
THREADS = "1,2,4..128"


def main(path: Path | None) -> int:
    """Prints both tables and the picture's path; the exit status."""
    path = path or (CHECKOUT / "build" if CHECKOUT else Path()) / "uncore-demo.png"
    jobs = [make_job(MACHINE, lock, THREADS) for lock in LOCKS]
    total = 1 + sum(len(job.threads) for job in jobs)
    with progress(total, "simulating 2x EPYC 7601", "runs") as advance:
        pairs = matrix.measure(MACHINE, ipi=False, overrides={}, smt=True)
        advance(1)
        results = execute(jobs, 1, lambda job, point: advance(1))
    matrix.show(pairs, as_json=False)
    curve.show(results, as_json=False)
    picture = plot.picture(path, matrix.panel(pairs), curve.panel(results))
    console().print(f"picture: {picture}", markup=False, soft_wrap=True)
    if any(result.outcome.partial for result in results):
        return 130
    return 1 if pairs.result.failed or any(result.failed for result in results) else 0
