"""Counts the work of a transaction in units that do not depend on the host.

    python -m benchmarks.counts [--only WORD]     prints the counts, and those in counts.toml
    python -m benchmarks.counts --renew           writes the counts to counts.toml

Each row runs at two lengths, and the difference of the two runs is counted, so that start-up and
the ends of a run do not matter.  The engine counts events, runs of cores, messages and crossings of
channels; `bytes` is the memory of a hart with its share of a core. `instructions` are those that
the host executes in the engine, counted by callgrind (valgrind) with the module that the pinned
clang builds (`SCons --clang`); the column is empty if valgrind or this module is missing.  The exit
status is 1 if a count is more than 2 % above that in counts.toml.
"""

from __future__ import annotations

import argparse
import os
import pickle
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from benchmarks.speed import PROGRAMS

from uncore import program, topology
from uncore.drawing.table import Column, emit
from uncore.engine import native
from uncore.job import Job

KEPT_COUNTS = Path(__file__).with_name("counts.toml")
MAX_COUNT_RATIO = 1.02
ALONE_SCRIPT = Path(__file__).with_name("alone.py")
BUILD_FOLDER = Path(__file__).resolve().parents[1] / "build"
ENGINE_COUNTS = ("events", "runs", "messages", "crossings", "bytes")  # the engine's
COUNTS = (*ENGINE_COUNTS, "instructions")


@dataclass(frozen=True)
class Row:
    """A job at two lengths. The difference of the counts is divided by that of the transactions."""

    name: str
    machine: str
    workload: str
    threads: int
    parameter: str
    short: int
    long: int
    per: str  # the divisor: "transaction", or "instruction" of the guest


ROWS = (
    Row("one hart, private data", "epyc7601x2", "private.c", 1, "rounds", 50, 150, "instruction"),
    Row("128 harts, private data", "epyc7601x2", "private.c", 128, "rounds", 1, 2, "instruction"),
    Row("one counter, 128 harts", "epyc7601x2", "counter/atomic", 128, "ops", 30, 60,
        "transaction"),
    Row("ticket lock, 128 harts", "epyc7601x2", "lock/ticket", 128, "ops", 2, 3, "transaction"),
    Row("MCS lock, 128 harts", "epyc7601x2", "lock/mcs", 128, "ops", 10, 20, "transaction"),
    Row("MCS lock, 16 harts", "ccx:2x8", "lock/mcs", 16, "ops", 50, 150, "transaction"),
    Row("MCS lock, 1,024 harts", "ccx:128x8", "lock/mcs", 1024, "ops", 2, 3, "transaction"),
    Row("one counter, 1,024 harts", "ccx:128x8", "counter/atomic", 1024, "ops", 4, 8,
        "transaction"),
)  # fmt: skip


@cache
def job(row: Row, length: int) -> Job:
    source = PROGRAMS / row.workload
    guest = program.compile(source) if source.exists() else program.find(row.workload)
    settings = ((row.parameter, str(length)),)
    return Job(topology.load(row.machine), guest, (row.threads,), parameters=settings)


# ---- counts of the engine


def counted(row: Row) -> dict[str, float]:
    """Returns the counts for one transaction (or one instruction of the guest), and the number of
    transactions by which the two runs differ.
    """
    short, long = (engine_counts(job(row, length)) for length in (row.short, row.long))
    times = long[row.per] - short[row.per]
    cost = {name: round((long[name] - short[name]) / times, 4) for name in ENGINE_COUNTS}
    return cost | {"bytes": round(long["bytes"] / row.threads), "times": times}


def engine_counts(job_: Job) -> dict[str, int]:
    """Returns the counters of one run."""
    engine = native.start(job_)
    engine.step(1 << 60)
    assert engine.end == "exited", engine.reason
    counts = engine.counters()
    guest = sum(hart["instructions"] for hart in engine.harts())
    counters = {
        "events": counts["events"],
        "transaction": counts["transactions"],
        "instruction": guest,
    }
    return counters | engine.work()


# ---- instructions of the host


def can_count_instructions() -> bool:
    """True if this host has valgrind and a module built by the pinned clang."""
    return bool(shutil.which("valgrind")) and any(BUILD_FOLDER.glob("native-clang/_native*.so"))


def instructions(times: Mapping[Row, float], build: str = "native-clang") -> dict[Row, float]:
    """Returns the host instructions per transaction of each row. `times` has, for each row, the
    number of transactions by which its two runs differ.
    """
    module = next((BUILD_FOLDER / build).glob("_native*.so"))
    executed = collected([job(row, n) for row in times for n in (row.short, row.long)], module)
    return {
        row: round((executed[2 * i + 1] - executed[2 * i]) / n, 2)
        for i, (row, n) in enumerate(times.items())
    }


def collected(jobs: Sequence[Job], module: Path) -> list[int]:
    """Runs each job in its own process; returns the host instructions executed in the engine."""
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder, f"arguments{i}") for i, _ in enumerate(jobs)]
        for file, job_ in zip(files, jobs, strict=True):
            file.write_bytes(pickle.dumps(arguments(job_)))
        command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/%p"]
        command += ["--toggle-collect=uncore::Engine::step*"]
        command += [sys.executable, "-I", "-S", str(ALONE_SCRIPT), str(module), *map(str, files)]
        environment = {"PYTHONHASHSEED": "0", "PATH": os.environ["PATH"]}
        ran = subprocess.run(command, capture_output=True, text=True, env=environment)
        runs = [Path(folder, process) for process in ran.stdout.split()]
        if ran.returncode:
            failed = jobs[max(0, len(runs) - 1)]
            sys.exit(failure_text(failed, module, ran.stderr.strip() or ran.stdout.strip()))
        return [int(run.read_text().split("totals: ")[1]) for run in runs]


def failure_text(job_: Job, module: Path, output: str) -> str:
    """Returns a sentence on what to do about a run that failed under valgrind."""
    if "unhandled instruction" in output or "SIGILL" in output:
        return (
            f"counts: valgrind does not know an instruction of {module.parent}: it was built for"
            " this host's own processor. Remove that folder and build it again with"
            " `python -m SCons --clang native`, which takes the plainest processor there is"
        )
    return f"counts: {job_.program.name} failed under valgrind: {output}"


def arguments(job_: Job) -> tuple[Any, ...]:
    """Returns the arguments of the engine as plain values, which can be unpickled without any
    package.
    """
    recorded: list[tuple[Any, ...]] = []

    class StartRecorded(Exception):
        pass

    class Run:
        def __init__(self, *values: Any) -> None:
            recorded.append(values)
            raise StartRecorded

    original, native.Run = native.Run, Run  # type: ignore[misc]
    try:
        native.start(job_)
    except StartRecorded:
        pass
    finally:
        native.Run = original  # type: ignore[misc]
    return tuple(plain(value) for value in recorded[0])


def plain(value: Any) -> Any:
    """Converts dataclasses to namespaces with their fields and properties."""
    if is_dataclass(value):
        names = [field.name for field in fields(value)]
        names += [n for n, p in vars(type(value)).items() if isinstance(p, property)]
        return SimpleNamespace(**{name: plain(getattr(value, name)) for name in names})
    if isinstance(value, list | tuple):
        return type(value)(plain(item) for item in value)
    return value


# ---- the counts in counts.toml


def kept_counts() -> dict[str, dict[str, float]]:
    return tomllib.loads(KEPT_COUNTS.read_text()) if KEPT_COUNTS.exists() else {}


def worse_counts(row: Row, counts: Mapping[str, Any]) -> Iterator[str]:
    """Yields a sentence for each count that is more than 2 % above that in counts.toml."""
    for count, recorded in kept_counts().get(row.name, {}).items():
        if counts.get(count) and counts[count] > recorded * MAX_COUNT_RATIO:
            yield f"{row.name}: {counts[count]} {count} each {row.per}, {recorded} kept"


def text(rows: Mapping[str, Mapping[str, Any]]) -> str:
    lines = [
        "# What `python -m benchmarks.counts --renew` counted last; renewed knowingly, with the"
    ]
    lines += ["# reason in the commit and, where it is speed lost, in docs/performance.md."]
    for name, row in rows.items():
        lines += ["", f'["{name}"]', *(f"{k} = {row[k]}" for k in COUNTS if row.get(k))]
    return "\n".join(lines) + "\n"


COLUMNS = [
    Column("row", "row", left=True),
    Column("each", "per", left=True),
    *(Column(what, what) for what in COUNTS),
    Column("kept", "kept"),
]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", default="", help="rows whose name has this word")
    parser.add_argument("--build", default="native-clang", help="folder of build/ with the module")
    parser.add_argument("--renew", action="store_true", help="keep what is counted now")
    arguments_ = parser.parse_args()
    counts_instructions = arguments_.build != "native-clang" or can_count_instructions()
    chosen = {row: counted(row) for row in ROWS if arguments_.only in row.name}
    times = {row: row_["times"] for row, row_ in chosen.items()}
    executed = instructions(times, arguments_.build) if counts_instructions else {}
    rows, all_worse = [], []
    for row, counts in chosen.items():
        row_: dict[str, Any] = {"row": row.name, "per": row.per, **counts}
        row_ |= {"instructions": executed[row]} if counts_instructions else {}
        all_worse += worse_counts(row, row_)
        rows.append(row_ | {"kept": kept_counts().get(row.name, {}).get("instructions")})
    emit(rows, False, COLUMNS)
    if arguments_.renew:
        KEPT_COUNTS.write_text(text({**kept_counts(), **{row["row"]: row for row in rows}}))
        return 0
    for line in all_worse:
        print(f"more than 2 % above what is kept: {line}")
    return int(bool(all_worse))


if __name__ == "__main__":
    sys.exit(main())
