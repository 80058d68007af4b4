"""Counts how often a stated interval contains the true rate, which runs 50 times as long show.

    python -m uncore_lab.validate.intervals [--renew] [--only WORD] [--threads 1,16] [--times N]
    python -m uncore_lab.validate.intervals --plot FILE.png     draws the rows on file

Each workload whose run length can be searched is run on each machine with the defaults of `uncore
run`.  The true rate is the median of TRUTH_RUNS runs with other seeds, whose lengths add up to
TRUTH_LENGTH_FACTOR times the length of the default run.  There are several runs, because in a queue
lock the order of threads is the same for a whole run.  A row is `inside` if the stated interval
contains the true rate, as 95 of 100 should.  It is `marked` if its rate contradicts its times (W3),
or if the interval is wider than requested.  `--renew` writes each row as soon as it is computed,
and keeps rows on file that this call does not compute.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from uncore import program
from uncore.drawing import plot
from uncore.drawing.spread import contradicts
from uncore.drawing.table import Column, Row, emit
from uncore.engine import limits
from uncore.execution.execute import execute
from uncore.execution.request import make_job
from uncore.job.job import Length
from uncore.result import to_medians
from uncore.result.repeats import repeats
from uncore_lab.results.table import Table, load, save

MACHINES = ("x6130x2", "epyc7601x2", "graviton2", "ccx:2x4")
THREADS = (1, 16, 64)
# all long runs together, divided by the length that `uncore run` finds
TRUTH_LENGTH_FACTOR = 50
TRUTH_RUNS, FIRST_SEED = 5, 101
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
    """Yields the pairs of a machine and a workload, without those whose names lack `word`."""
    for machine in MACHINES:
        for workload in program.shipped():
            if word in f"{machine} {workload.name}":
                yield machine, workload.name


def rows(
    machine: str, workload: str, times: int = TRUTH_LENGTH_FACTOR, threads: Sequence[int] = THREADS
) -> Iterator[Row]:
    """Yields a row for each thread count for which the machine has harts: the answer that `uncore
    run` gives by default, and that of long runs. Yields none if the workload's run length cannot be
    searched.
    """
    job = make_job(machine, workload, [1], seeds=None, within=None)
    room = sorted({min(count, len(job.harts)) for count in threads})
    if not job.within:
        return
    for count in room:
        searched = replace(job, threads=(count,))
        result = execute([searched])[0]
        (row,) = to_medians([result])
        length = Length(*result.job["lengths"][0])
        longer = times // TRUTH_RUNS
        long = length._replace(
            ops=longer * length.ops, duration=longer * length.duration, runs=TRUTH_RUNS
        )
        seeds = tuple(range(FIRST_SEED, FIRST_SEED + TRUTH_RUNS))
        plain = replace(searched, within=0, seeds=seeds, lengths=(long,))
        truth = repeats(execute([plain], engine_options={"max_time": limits.NO_LIMIT_TEXT})[0])[
            0
        ].rate
        low, high = row["throughput_min"], row["throughput_max"]
        yield {
            "machine": machine,
            "workload": workload,
            "threads": count,
            "throughput": row["throughput"],
            "low_pct": round(100 * (low / row["throughput"] - 1), 2),
            "high_pct": round(100 * (high / row["throughput"] - 1), 2),
            "off_pct": round(100 * (row["throughput"] / truth - 1), 2),
            "inside": int(low <= truth <= high),
            "marked": int(contradicts(row) or not row["reached"]),
            "runs": row["repeats"],
        }


def save_with_others(new_rows: Sequence[Row]) -> None:
    """Writes the new rows, and the rows on file that they do not replace."""
    new_lines, rows_on_file = table(new_rows).lines, table(load("intervals")).lines
    save(table([line for _, line in sorted({**rows_on_file, **new_lines}.items(), key=_place)]))


def _place(key_and_row: tuple[tuple[str, ...], Row]) -> tuple[int, str, int]:
    machine, workload, threads = key_and_row[0]
    return MACHINES.index(machine), workload, int(threads)


def table(interval_rows: Sequence[Row]) -> Table:
    return Table("intervals", ("machine", "workload", "threads"), interval_rows)


def picture(lines: Sequence[Row]) -> list[plot.Panel]:
    """Draws a panel for each machine with the rates of long runs, as a percentage of the default
    rate, and the stated intervals.
    """
    panels: list[plot.Panel] = []
    for machine in dict.fromkeys(str(line["machine"]) for line in lines):
        rows = [line for line in lines if line["machine"] == machine]
        rows.sort(key=lambda row: float(row["off_pct"]), reverse=True)
        for kind, marked in (("unmarked", "0"), ("marked", "1")):
            points = [
                (
                    number,
                    100 / (1 + float(row["off_pct"]) / 100),
                    100 + float(row["low_pct"]),
                    100 + float(row["high_pct"]),
                )
                for number, row in enumerate(r for r in rows if str(r["marked"]) == marked)
            ]
            title = f"{machine}: {len(points)} {kind} rows"
            panels.append(
                plot.curves(
                    {"run 50 times as long, in the interval of the default": points},
                    title,
                    "rows, by how far the long run is off",
                    "% of the default",
                    words=[""] * len(points),
                )
            )
    return panels


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", default="", help="pairs whose names have this word")
    parser.add_argument(
        "--times", type=int, default=TRUTH_LENGTH_FACTOR, help="times as long is the truth"
    )
    parser.add_argument("--threads", default="1,16,64", help="thread counts, where there is room")
    parser.add_argument("--renew", action="store_true", help="write validation/results")
    parser.add_argument("--plot", type=Path, help="draw the rows on file, and run nothing")
    chosen = parser.parse_args()
    if chosen.plot:
        print(plot.picture(chosen.plot, *picture(load("intervals"))))
        return 0
    threads = [int(count) for count in chosen.threads.split(",")]
    interval_rows: list[Row] = []
    for machine, workload in questions(chosen.only):
        for row in rows(machine, workload, chosen.times, threads):
            interval_rows.append(row)
            print(*row.values(), file=sys.stderr, flush=True)
            if chosen.renew:
                save_with_others([row])
    inside = sum(row["inside"] for row in interval_rows)
    emit(interval_rows, False, COLUMNS, f"{inside} of {len(interval_rows)} intervals hold")
    return 0


if __name__ == "__main__":
    sys.exit(main())
