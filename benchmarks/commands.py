"""Measures whole commands on this host: start-up, a list, sweeps and a matrix on several cores.

    python -m benchmarks.commands [--json] [--only WORD]

Each command runs three times, each time in a process of its own, and the best time counts.  CPU
seconds include those of child processes.  A `speed-up` is the time on one core divided by the time
on two; for a matrix, wall-clock seconds are shown.  Both need a host that does nothing else.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

from uncore.drawing.table import Column, emit

TOP = Path(__file__).resolve().parents[1]
UNCORE = [str(Path(sys.executable).with_name("uncore"))]
EMPTY_RUN = "run bus:2 counter/atomic --threads 1 --set ops=1 --seed none".split()
RUN_OF_64_POINTS = "run epyc7601x2 lock/mcs --set ops=300 --seed none --threads".split()
RUN_OF_64_POINTS += [",".join(map(str, range(1, 65)))]
PROGRAMS = TOP / "benchmarks/programs"
PRIVATE_DATA_RUN = (
    f"run epyc7601x2 {PROGRAMS / 'private.c'} --threads 128 --set rounds=2000 --seed none"
)
PRIMES_RUN = f"run epyc7601x2 {PROGRAMS / 'primes.c'} --threads 64 --argument 64 --seed none"
MATRIX_COMMAND = "matrix epyc7742x2 --seed none".split()
REPEATS = 3


@cache
def least_seconds(*command: str) -> tuple[float, float]:
    """Returns the least CPU seconds and the least wall-clock seconds of a command."""
    runs = [once(command) for _ in range(REPEATS)]
    return min(cpu for cpu, _ in runs), min(clock for _, clock in runs)


def once(command: Sequence[str]) -> tuple[float, float]:
    # The folder is empty, so that no results of earlier runs are reused.
    with tempfile.TemporaryDirectory() as folder:
        before, begin = os.times(), time.perf_counter()
        subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
        clock, after = time.perf_counter() - begin, os.times()
    used = (after.children_user - before.children_user) + (
        after.children_system - before.children_system
    )
    return used, clock


def cpu(*command: str) -> float:
    return least_seconds(*UNCORE, *command)[0]


def clock(*command: str) -> float:
    return least_seconds(*UNCORE, *command)[1]


def script() -> float:
    """Returns the CPU seconds that scripts/run adds to a command if there is nothing to build."""
    return least_seconds(str(TOP / "scripts/run"), *EMPTY_RUN)[0] - cpu(*EMPTY_RUN)


def speed_up(*command: str) -> float:
    return clock(*command, "--cores", "1") / clock(*command, "--cores", "2")


# Columns: subject, unit, function that measures it, and the project's goal.
ROWS: tuple[tuple[str, str, Callable[[], float], float], ...] = (
    ("uncore run of nothing", "CPU s", lambda: cpu(*EMPTY_RUN), 0.35),
    ("uncore list", "CPU s", lambda: cpu("list"), 0.5),
    ("scripts/run, beyond that", "CPU s", script, 0.1),
    ("64 points on two cores", "speed-up", lambda: speed_up(*RUN_OF_64_POINTS), 1.8),
    ("private data of 128 harts", "speed-up", lambda: speed_up(*PRIVATE_DATA_RUN.split()), 1.6),
    ("primes by 64 threads", "speed-up", lambda: speed_up(*PRIMES_RUN.split()), 1.6),
    ("matrix of epyc7742x2", "s", lambda: clock(*MATRIX_COMMAND), 6.0),
)

COLUMNS = [
    Column("command", "what", left=True),
    Column("unit", "unit", left=True),
    Column("here", "here"),
    Column("bar", "bar"),
]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", action="store_true", help="rows as JSON")
    parser.add_argument("--only", default="", help="rows whose command has this word")
    options = parser.parse_args()
    rows = [
        {"what": subject, "unit": unit, "here": round(find(), 2), "bar": bar}
        for subject, unit, find, bar in ROWS
        if options.only in subject
    ]
    if options.json:
        print(json.dumps(rows))
    else:
        emit(rows, False, COLUMNS)


if __name__ == "__main__":
    main()
