"""Counts how often a stated interval holds, against runs 50 times as long.

    python -m uncore_lab.validate.intervals [--renew] [--only WORD] [--times N]

Each workload whose length can be searched is run on each machine as `uncore run` does it unasked.
The truth is the median rate of TRUTHS runs, with other seeds, that together are TIMES as long: a
queue lock's order of threads stays for a whole run.  A row is `inside` where the stated interval
holds it; 95 of 100 should.  It is `marked` where its rate contradicts its times (W3), or where the
interval is wider than asked.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace

from uncore import program
from uncore.drawing.table import Column, Row, emit
from uncore.execution.enough import refused, within_unasked
from uncore.execution.execute import execute
from uncore.execution.request import make_job, usual_seeds
from uncore.job.job import Length
from uncore.report.spread import contradicts
from uncore.result import to_medians
from uncore.result.repeats import repeats
from uncore_lab.results.table import Table, save

MACHINES = ("x6130x2", "epyc7601x2", "graviton2", "ccx:2x4")
THREADS = (1, 16, 64)
TIMES, TRUTHS, FIRST_SEED = 50, 5, 101
COLUMNS = [
    Column("machine", "machine", left=True),
    Column("workload", "workload", left=True),
    Column("threads", "threads"),
    Column("ops/s", "throughput"),
    Column("low, %", "low_pct"),
    Column("high, %", "high_pct"),
    Column("off, %", "off_pct"),
    Column("inside", "inside"),
    Column("marked", "marked"),
    Column("runs", "runs"),
]


def questions(word: str = "") -> Iterator[tuple[str, str]]:
    """Yields machines and workloads; with `word`, those whose names have it."""
    for machine in MACHINES:
        for workload in program.shipped():
            if word in f"{machine} {workload.name}":
                yield machine, workload.name


def rows(machine: str, workload: str, times: int = TIMES) -> Iterator[Row]:
    """The answers that come unasked, at all thread counts there is room for, beside long runs."""
    job = make_job(machine, workload, [1], seeds=usual_seeds("native"))
    room = sorted({min(threads, len(job.harts)) for threads in THREADS})
    if refused(job):
        return
    for threads in room:
        searched = within_unasked(replace(job, threads=(threads,)))
        result = execute([searched])[0]
        (row,) = to_medians([result])
        length = Length(*result.job["lengths"][0])
        longer = times // TRUTHS
        long = length._replace(
            ops=longer * length.ops, duration=longer * length.duration, runs=TRUTHS
        )
        seeds = tuple(range(FIRST_SEED, FIRST_SEED + TRUTHS))
        plain = replace(searched, within=0, seeds=seeds, lengths=(long,))
        truth = repeats(execute([plain])[0])[0].rate
        low, high = row["throughput_min"], row["throughput_max"]
        yield {
            "machine": machine,
            "workload": workload,
            "threads": threads,
            "throughput": row["throughput"],
            "low_pct": round(100 * (low / row["throughput"] - 1), 2),
            "high_pct": round(100 * (high / row["throughput"] - 1), 2),
            "off_pct": round(100 * (row["throughput"] / truth - 1), 2),
            "inside": int(low <= truth <= high),
            "marked": int(contradicts(row) or not row["reached"]),
            "runs": row["repeats"],
        }


def table(found: Sequence[Row]) -> Table:
    return Table("intervals", ("machine", "workload", "threads"), found)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", default="", help="pairs whose names have this word")
    parser.add_argument("--times", type=int, default=TIMES, help="times as long is the truth")
    parser.add_argument("--renew", action="store_true", help="write validation/results")
    chosen = parser.parse_args()
    found: list[Row] = []
    for machine, workload in questions(chosen.only):
        for row in rows(machine, workload, chosen.times):
            found.append(row)
            print(*row.values(), file=sys.stderr, flush=True)
    inside = sum(row["inside"] for row in found)
    emit(found, False, COLUMNS, f"{inside} of {len(found)} intervals hold")
    if chosen.renew:
        save(table(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
