"""The demonstration `scripts/run` shows: one machine, two questions, one picture.

What does a line cost between any two of 128 hardware threads, and what does that do to a lock?
Nobody has published that machine's matrix; a smaller one built from the same dies was measured, so
it is simulated too, and its measured figures stand beside.
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

MACHINE, MEASURED = "epyc7601x2", "tr1950x"
LOCKS = ("lock/ticket", "lock/mcs")
THREADS = "1,2,4..128"


def main(path: Path | None) -> int:
    """Prints the tables and the picture's path; the exit status."""
    path = path or (CHECKOUT / "build" if CHECKOUT else Path()) / "uncore-demo.png"
    jobs = [make_job(MACHINE, lock, THREADS) for lock in LOCKS]
    total = 2 + sum(len(job.threads) for job in jobs)
    with progress(total, "simulating 2x EPYC 7601", "runs") as advance:
        machines = []
        for name in (MACHINE, MEASURED):
            machines.append(matrix.measure(name, ipi=False, overrides={}, smt=True))
            advance(1)
        results = execute(jobs, 1, lambda job, point: advance(1))
    for pairs in machines:
        matrix.show(pairs, as_json=False)
    curve.show(results, as_json=False)
    large, small = machines
    panels = [matrix.panel(large), curve.panel(results), matrix.comparison(small)]
    picture = plot.picture(path, *panels)
    console().print(f"picture: {picture}", markup=False, soft_wrap=True)
    if any(result.outcome.partial for result in results):
        return 130
    return int(any(r.failed for r in [*(m.result for m in machines), *results]))
