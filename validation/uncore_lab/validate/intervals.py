"""How often the intervals of `--within` hold, against runs 50 times as long.

    python -m uncore_lab.validate.intervals [--renew] [--only WORD]

Each pair of a machine and a workload is run SETS times, with seeds of its own each time.  The truth
is the median rate of TRUTHS runs whose harts do TIMES as many operations, that leave the start as
any run does: 50 times what a search ends with at least.  `held` is how many sets'
intervals hold it, out of SETS; 95 of 100 should.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from statistics import fmean, median_low
from typing import Any

import msgspec

from uncore import topology
from uncore.drawing.table import Column, Row, emit
from uncore.execution.execute import execute
from uncore.execution.request import make_job
from uncore.job import Job
from uncore.job.job import OPS
from uncore.result.steady import Pace, steady
from uncore_lab.results.table import Table, save

MACHINES = ("bus:4", "ccx:2x2", "mesh:2x2", "ccx:4x4")
WORKLOADS = (
    "counter/atomic", "counter/cas", "counter/percpu", "epoch/ebr", "epoch/rcu", "kernel/getuid",
    "layout/false_sharing", "layout/neighbours", "lock/clh", "lock/mcs", "lock/tas", "lock/ticket",
    "lock/ttas", "refcount/atomic", "refcount/sloppy", "sched/switch",
)  # fmt: skip
SETS = 20
APART = 100  # between the first seeds of two sets
TIMES, TRUTHS = 15, 21
WITHIN = "2%"
COLUMNS = [
    Column("machine", "machine", left=True),
    Column("workload", "workload", left=True),
    Column("held", "held"),
    Column("sets", "sets"),
    Column("half, %", "half"),
    Column("off, %", "off"),
    Column("reached", "reached"),
    Column("steady", "steady"),
    Column("ops", "ops"),
]


def row(machine: str, workload: str) -> Row:
    """What came of all sets of a pair."""
    threads = topology.load(machine).harts
    job = make_job(machine, workload, [threads], within=WITHIN, seeds=(1,))
    results = execute([replace(job, seeds=(1 + APART * n,)) for n in range(SETS)])
    estimated = [found for result in results for found in result.estimated]
    truth = _truth(job, max(found.ops for found in estimated))
    held = [low <= truth <= high for low, high in (found.ends for found in estimated)]
    return {
        "machine": machine,
        "workload": workload,
        "held": sum(held),
        "sets": len(estimated),
        "half": round(
            50 * fmean((b - a) / truth for a, b in (found.ends for found in estimated)), 2
        ),
        "off": round(100 * (fmean(found.throughput for found in estimated) / truth - 1), 2),
        "reached": sum(found.reached for found in estimated),
        "steady": sum(result.points[0].steady is not None for result in results),
        "ops": round(fmean(found.ops for found in estimated)),
    }


def _truth(job: Job, ops: int) -> float:
    paces: list[Pace] = []

    def seen(_: Job, observed: Mapping[str, Any]) -> None:
        paces.append(msgspec.convert(observed["pace"], Pace))

    seeds = tuple(range(APART * SETS, APART * SETS + TRUTHS))
    long = replace(job.given({OPS: TIMES * ops}), within=0, seeds=seeds)
    points = execute([long], probes=frozenset({"pace"}), seen=seen)[0].points
    whole = [point.throughput or 0 for point in points]
    return median_low([steady(pace)[0] or rate for pace, rate in zip(paces, whole, strict=True)])


def table(rows: Sequence[Row]) -> Table:
    return Table("intervals", ("machine", "workload"), rows)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", default="", help="pairs whose names have this word")
    parser.add_argument("--renew", action="store_true", help="write validation/results")
    chosen = parser.parse_args()
    pairs = [p for p in product(MACHINES, WORKLOADS) if chosen.only in " ".join(p)]
    rows = [row(*pair) for pair in pairs]
    held, sets = (sum(row_[key] for row_ in rows) for key in ("held", "sets"))
    emit(rows, False, COLUMNS, f"{100 * held / sets:.1f} % of {sets} intervals hold")
    if chosen.renew:
        save(table(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
