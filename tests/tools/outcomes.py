"""Do two checkouts of the project simulate the same, bit for bit?

    python -m tests.tools.outcomes record FILE [--only catalogue,matrices,claims,logs]
    python -m tests.tools.outcomes compare BEFORE AFTER

`record` runs every shipped workload at every size (catalogue.py), the matrices of ten machines,
every run of the claims and every job of the differential suite. It writes the SHA-256 of each
outcome; for the differential suite it also writes that of the complete transaction log. `compare`
prints the names that differ and exits with 1 if there are any. A refactoring must leave all hashes
unchanged. A corrected rule changes some, and its commit says which.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
from tests.differential import jobs as differential
from tests.tools import catalogue

from uncore.errors import GuestError
from uncore.execution.execute import execute
from uncore.execution.request import make_job
from uncore.job import Job
from uncore.result import canonical
from uncore_lab.claims.collection import load

MATRICES = (
    "epyc7601x2 epyc9654x2 x8275clx2 e52695v4x2 knl7210 graviton2 r5950x tr1950x i912900k x5650x2"
).split()
KINDS = ("catalogue", "matrices", "claims", "logs")


def jobs(kind: str) -> Iterator[tuple[str, Job]]:
    """Yields (name, job) for all jobs of a kind."""
    if kind == "catalogue":
        for workload in catalogue.selected(()):
            for threads in catalogue.THREADS:
                yield f"{workload.name}@{threads}", catalogue.job(workload, threads)
    elif kind == "matrices":
        for machine in MATRICES:
            yield machine, make_job(machine, "latency/pingpong", "max", smt=False)
    elif kind == "claims":
        for claim in load():
            for run, job in claim.jobs().items():
                yield f"{claim.id}/{run}", job
    else:
        for name, case in {**differential.JOBS, **differential.LONG_JOBS}.items():
            long = " long" if differential.LONG_JOBS.get(name) == case else ""
            yield f"{name}{long}", differential.make(case)


def digest(value: Any) -> str:
    return hashlib.sha256(canonical(value)).hexdigest()


def record(kinds: Sequence[str]) -> dict[str, str]:
    """Runs all jobs of these kinds. Returns a hash for each name."""
    named = [(f"{kind} {name}", kind, job) for kind in kinds for name, job in jobs(kind)]
    hashes: dict[str, str] = {}
    for logged in (False, True):
        selected = [(name, job) for name, kind, job in named if (kind == "logs") == logged]
        errors: dict[Job, str] = {}
        logs: dict[Job, str] = {}

        def note_error(job: Job, error: GuestError, errors: dict[Job, str] = errors) -> None:
            errors[job] = str(error)

        def note_log(job: Job, observed: dict[str, Any], logs: dict[Job, str] = logs) -> None:
            if columns := observed.get("log"):
                plain_columns = {key: list(map(_plain, column)) for key, column in columns.items()}
                logs[job] = digest(plain_columns)

        observers = frozenset({"log"}) if logged else frozenset()
        cores = os.cpu_count() or 1
        selected_jobs = [job for _, job in selected]
        results = execute(
            selected_jobs, cores, wrong=note_error, observers=observers, seen=note_log
        )
        for (name, job), result in zip(selected, results, strict=True):
            for point in job.threads:
                point_job = job.at(point)
                label = f"{name}@{point}" if len(job.threads) > 1 else name
                if point_job in errors:
                    hashes[label] = f"error: {errors[point_job]}"
                    continue
                points = [p for p in result.points if p.threads == point]
                hashes[label] = digest(points) + logs.get(point_job, "")
    return hashes


def _plain(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else value


def compare(before: dict[str, str], after: dict[str, str]) -> int:
    """Prints the names whose hashes differ. Returns how many there are."""
    differing = 0
    for name in sorted(before.keys() | after.keys()):
        if before.get(name) == after.get(name):
            continue
        differing += 1
        missing = "before" if name not in before else "after" if name not in after else ""
        print(f"{name}: {f'missing {missing}' if missing else 'differs'}")
    for kind in KINDS:
        of_kind = [name for name in before if name.startswith(f"{kind} ")]
        equal = sum(before[name] == after.get(name) for name in of_kind)
        print(f"{kind:<10} {equal} of {len(of_kind)} equal")
    return differing


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="tests.tools.outcomes")
    commands = parser.add_subparsers(dest="command", required=True)
    recording = commands.add_parser("record")
    recording.add_argument("file", type=Path)
    recording.add_argument("--only", default=",".join(KINDS))
    comparing = commands.add_parser("compare")
    comparing.add_argument("before", type=Path)
    comparing.add_argument("after", type=Path)
    arguments = parser.parse_args(argv)
    if arguments.command == "compare":
        before, after = (
            json.loads(path.read_text()) for path in (arguments.before, arguments.after)
        )
        return int(compare(before, after) > 0)
    kinds = arguments.only.split(",")
    if unknown := set(kinds) - set(KINDS):
        parser.error(f"--only {','.join(sorted(unknown))}: there are {', '.join(KINDS)}")
    hashes = record(kinds)
    arguments.file.write_bytes(msgspec.json.format(msgspec.json.encode(hashes, order="sorted")))
    print(f"{len(hashes)} outcomes in {arguments.file}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
