"""Measures the speed of the native engine on this host; each row is one question.

    python -m benchmarks.speed [--json] [--only WORD]

Times are CPU seconds of the engine alone: machines and programs are loaded before, and results are
read afterwards.  Each row runs in a process of its own, so that its peak memory can be measured.
The best of three runs counts, because other work on the host only makes a run slower.  A row
without a seed has no random variation.  `bar` is the goal of the project.  Lines below the table
show the time of a transaction among 1,024 harts as a multiple of its time among 16.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import platform
import resource
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from uncore import program, topology
from uncore.drawing.table import Column, emit
from uncore.engine import native
from uncore.job import Job

PROGRAMS = Path(__file__).parent / "programs"
REPEATS = 3


@dataclass(frozen=True)
class Case:
    """One row: a job, and the count that is divided by the host seconds."""

    question: str
    machine: str
    workload: str
    threads: int
    settings: tuple[tuple[str, str], ...]
    counts: str  # instructions | transactions | ops | pairs
    bar: float | None = None
    seeds: tuple[int, ...] = ()

    @property
    def name(self) -> str:
        return f"{self.question}, seed {self.seeds[0]}" if self.seeds else self.question


CASES = (
    Case("private data", "epyc7601x2", "private.c", 1, (("rounds", "8000"),), "instructions",
         250e6),
    Case("private data", "epyc7601x2", "private.c", 128, (("rounds", "80"),), "instructions",
         120e6),
    Case("one counter", "epyc7601x2", "counter/atomic", 128, (("ops", "4000"),), "transactions",
         2e6),
    Case("ticket lock", "epyc7601x2", "lock/ticket", 128, (("ops", "100"),), "ops", 25e3),
    Case("MCS lock", "epyc7601x2", "lock/mcs", 128, (("ops", "1500"),), "ops", 250e3),
    Case("one counter", "epyc7601x2", "counter/atomic", 128, (("ops", "4000"),), "transactions",
         seeds=(1,)),
    Case("ticket lock", "epyc7601x2", "lock/ticket", 128, (("ops", "100"),), "ops", seeds=(1,)),
    Case("MCS lock", "epyc7601x2", "lock/mcs", 128, (("ops", "1500"),), "ops", seeds=(1,)),
    Case("one counter", "ccx:2x8", "counter/atomic", 16, (("ops", "20000"),), "transactions"),
    Case("one counter", "ccx:128x8", "counter/atomic", 1024, (("ops", "250"),), "transactions"),
    Case("MCS lock", "ccx:2x8", "lock/mcs", 16, (("ops", "4000"),), "transactions"),
    Case("MCS lock", "ccx:16x8", "lock/mcs", 128, (("ops", "500"),), "transactions"),
    Case("MCS lock", "ccx:128x8", "lock/mcs", 1024, (("ops", "60"),), "transactions"),
    Case("matrix", "epyc7601x2", "latency/pingpong", 128, (), "pairs"),
    Case("matrix", "epyc7742x2", "latency/pingpong", 256, (), "pairs"),
)  # fmt: skip
GROWTH = ("one counter", "MCS lock")
FEW_HARTS_MACHINE, MANY_HARTS_MACHINE, MAX_GROWTH = "ccx:2x8", "ccx:128x8", 1.8


def job(case: Case) -> Job:
    """Makes the job of a row."""
    source = PROGRAMS / case.workload
    guest = program.compile(source) if source.exists() else program.find(case.workload)
    machine = topology.load(case.machine)
    return Job(machine, guest, (case.threads,), parameters=case.settings, seeds=case.seeds)


def measure(case: Case) -> dict[str, object]:
    """Runs a row and returns its cells."""
    runs = [_run(case) for _ in range(1 if case.counts == "pairs" else REPEATS)]
    best = min(runs, key=lambda run: run[0])
    seconds, counts, instructions, ops = best
    pairs = case.threads * (case.threads - 1) // 2
    amount = {"instructions": instructions, "transactions": counts["transactions"], "ops": ops,
              "pairs": pairs}[case.counts]  # fmt: skip
    rate = amount / seconds
    shares, transactions = case.counts != "instructions", counts["transactions"]
    return {
        "question": case.name,
        "machine": case.machine,
        "threads": case.threads,
        "seconds": round(seconds, 3),
        "counted": case.counts,
        "per_second": round(rate),
        "bar": round(case.bar) if case.bar else None,
        "of_bar": round(rate / case.bar, 2) if case.bar else None,
        "us_per_transaction": round(seconds / transactions * 1e6, 2) if shares else None,
        "events_per_transaction": round(counts["events"] / transactions, 1) if shares else None,
        "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }


def _run(case: Case) -> tuple[float, dict[str, int], int, int]:
    job_ = job(case)
    engine = native.start(next(iter(job_.points())))
    begin = time.process_time()
    while engine.step(1_000_000):
        pass
    seconds = time.process_time() - begin
    if engine.end != "exited" or engine.exit_code:
        sys.exit(f"{case.workload} on {case.machine}: {engine.end} {engine.reason}")
    ops = sum(r.ops for r in program.readback.records(job_.program, engine.read, case.threads))
    return seconds, engine.counters(), sum(h["instructions"] for h in engine.harts()), ops


def growth_lines(rows: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yields a line for each question: how many times longer a transaction takes among 1,024 harts
    than among 16.
    """
    us_per_transaction = {
        (row["question"], row["machine"]): row["us_per_transaction"] for row in rows
    }
    for question in GROWTH:
        time_of_few, time_of_many = (
            us_per_transaction.get((question, FEW_HARTS_MACHINE)),
            us_per_transaction.get((question, MANY_HARTS_MACHINE)),
        )
        if time_of_few and time_of_many:
            times = time_of_many / time_of_few
            yield f"{question}: {times:.2f} times as long at 1,024 harts (bar: {MAX_GROWTH})"


COLUMNS = [
    Column("question", "question", left=True),
    Column("machine", "machine", left=True),
    Column("threads", "threads"),
    Column("CPU s", "seconds"),
    Column("counted", "counted", left=True),
    Column("per CPU s", "per_second"),
    Column("bar", "bar"),
    Column("of bar", "of_bar"),
    Column("us/transaction", "us_per_transaction"),
    Column("events/transaction", "events_per_transaction"),
    Column("peak MiB", "peak_mib"),
]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", action="store_true", help="rows as JSON")
    parser.add_argument("--only", default="", help="rows whose question or machine has this word")
    options = parser.parse_args()
    chosen = [c for c in CASES if options.only in f"{c.name} {c.machine}"]
    context = multiprocessing.get_context("spawn")
    rows = []
    for case in chosen:
        with context.Pool(1) as pool:
            rows.append(pool.apply(measure, (case,)))
    if options.json:
        print(json.dumps({"host": platform.processor() or platform.machine(), "rows": rows}))
    else:
        emit(rows, False, COLUMNS)
        print("", *growth_lines(rows), sep="\n")


if __name__ == "__main__":
    main()
