"""What a transaction costs, in counts that do not depend on the host.

    python -m benchmarks.counts [--only WORD]     the rows, beside the figures kept in counts.toml
    python -m benchmarks.counts --renew           writes them there, knowingly

Each row runs twice, at two lengths, and counts what the longer run has more of, so that neither
start-up nor the ends of a run hide in it.  `events` are the engine's own.  `instructions` are those
the host executes under callgrind (valgrind), with the module as the pinned clang builds it
(`--clang`); without valgrind that column stays empty.  Exit status: 1 where a count is more than
2 % above the kept one.
"""

from __future__ import annotations

import argparse
import os
import pickle
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from benchmarks.speed import PROGRAMS

from uncore import program, topology
from uncore.engine import native
from uncore.job import Job
from uncore.report.table import Column, emit

KEPT = Path(__file__).with_name("counts.toml")
TOLERANCE = 1.02
ALONE = Path(__file__).with_name("alone.py")


@dataclass(frozen=True)
class Row:
    """A job at two lengths, and what is counted of the difference."""

    name: str
    machine: str
    workload: str
    threads: int
    parameter: str
    short: int
    long: int
    per: str  # transactions | instructions (of the guest)


ROWS = (
    Row("one hart, private data", "epyc7601x2", "private.c", 1, "rounds", 100, 300,
        "instructions"),
    Row("128 harts, private data", "epyc7601x2", "private.c", 128, "rounds", 1, 3,
        "instructions"),
    Row("one counter, 128 harts", "epyc7601x2", "counter/atomic", 128, "ops", 40, 120,
        "transactions"),
    Row("ticket lock, 128 harts", "epyc7601x2", "lock/ticket", 128, "ops", 2, 5, "transactions"),
    Row("MCS lock, 128 harts", "epyc7601x2", "lock/mcs", 128, "ops", 20, 60, "transactions"),
    Row("MCS lock, 16 harts", "ccx:2x8", "lock/mcs", 16, "ops", 100, 300, "transactions"),
    Row("MCS lock, 1,024 harts", "ccx:128x8", "lock/mcs", 1024, "ops", 4, 10, "transactions"),
)  # fmt: skip


def job(row: Row, length: int) -> Job:
    own = PROGRAMS / row.workload
    guest = program.compile(own) if own.exists() else program.find(row.workload)
    settings = ((row.parameter, str(length)),)
    return Job(topology.load(row.machine), guest, (row.threads,), parameters=settings)


def arguments(asked: Job) -> tuple[Any, ...]:
    """What the engine is given, as plain values that need no package to be read again."""
    taken: list[tuple[Any, ...]] = []

    class Taken(Exception):
        pass

    class Run:
        def __init__(self, *given: Any) -> None:
            taken.append(given)
            raise Taken

    whole, native.Run = native.Run, Run  # type: ignore[misc]
    try:
        native.start(asked)
    except Taken:
        pass
    finally:
        native.Run = whole  # type: ignore[misc]
    return tuple(plain(value) for value in taken[0])


def plain(value: Any) -> Any:
    """Dataclasses and what has attributes as namespaces, properties included."""
    if is_dataclass(value):
        names = [field.name for field in fields(value)]
        names += [n for n, p in vars(type(value)).items() if isinstance(p, property)]
        return SimpleNamespace(**{name: plain(getattr(value, name)) for name in names})
    if isinstance(value, list | tuple):
        return type(value)(plain(item) for item in value)
    return value


def measured(row: Row, length: int, module: Path, valgrind: str | None) -> dict[str, int]:
    """The counts of one run, in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        given, out = Path(folder, "given"), Path(folder, "callgrind")
        given.write_bytes(pickle.dumps(arguments(job(row, length))))
        command = [sys.executable, "-I", "-S", str(ALONE), str(module), str(given)]
        if valgrind:
            command = [valgrind, "--tool=callgrind", f"--callgrind-out-file={out}", *command]
        environment = {"PYTHONHASHSEED": "0", "PATH": os.environ["PATH"]}
        ran = subprocess.run(command, capture_output=True, text=True, env=environment)
        if ran.returncode:
            sys.exit(f"{row.name}: {ran.stderr.strip() or ran.stdout.strip()}")
        events, transactions, instructions = map(int, ran.stdout.split())
        counts = {"events": events, "transactions": transactions, "guest": instructions}
        if found := re.search(r"Collected : (\d+)", ran.stderr):
            counts["host"] = int(found[1])
        return counts


def counted(row: Row, module: Path, valgrind: str | None) -> dict[str, Any]:
    """What one transaction, or one instruction of the guest, costs."""
    short, long = (measured(row, n, module, valgrind) for n in (row.short, row.long))
    more = {name: long[name] - short[name] for name in long}
    per = more["guest" if row.per == "instructions" else "transactions"]
    return {
        "row": row.name,
        "per": row.per.removesuffix("s"),
        "events": round(more["events"] / per, 3) if row.per == "transactions" else None,
        "instructions": round(more["host"] / per, 1) if valgrind else None,
    }


def module(build: str) -> Path:
    """The built engine."""
    top = Path(__file__).resolve().parents[1]
    return next((top / "build" / build).glob("_native*.so"))


COLUMNS = [
    Column("row", "row", left=True),
    Column("per", "per", left=True),
    Column("events", "events"),
    Column("kept", "kept_events"),
    Column("host instructions", "instructions"),
    Column("kept", "kept_instructions"),
]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", default="", help="rows whose name has this word")
    parser.add_argument("--build", default="native-clang", help="folder of build/ with the module")
    parser.add_argument("--renew", action="store_true", help="keep what is counted now")
    asked = parser.parse_args()
    kept = tomllib.loads(KEPT.read_text()) if KEPT.exists() else {}
    rows, worse = [], []
    for row in ROWS:
        if asked.only not in row.name:
            continue
        found = counted(row, module(asked.build), shutil.which("valgrind"))
        before = kept.get(row.name, {})
        for what in ("events", "instructions"):
            found[f"kept_{what}"] = before.get(what)
            if found[what] and before.get(what) and found[what] > before[what] * TOLERANCE:
                worse.append(f"{row.name}: {found[what]} {what}, {before[what]} kept")
        rows.append(found)
    emit(rows, False, COLUMNS)
    if asked.renew:
        KEPT.write_text(_text({**kept, **{row["row"]: row for row in rows}}))
        return 0
    for line in worse:
        print(f"more than 2 % above what is kept: {line}")
    return int(bool(worse))


def _text(kept: dict[str, dict[str, Any]]) -> str:
    lines = [
        "# What `python -m benchmarks.counts --renew` counted last; changed knowingly, with the"
    ]
    lines += ["# reason in the commit and, where it is speed lost, in docs/performance.md."]
    for name, row in kept.items():
        lines += ["", f'["{name}"]']
        lines += [f"{k} = {row[k]}" for k in ("events", "instructions") if row.get(k) is not None]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
