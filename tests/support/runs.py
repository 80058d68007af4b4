"""Runs jobs on the native engine for tests.

    point(machine, workload, threads, ...)      the fields of one Point
    logged(machine, workload, threads, ...)     its transaction log, and the fields of the Point
    run(machine, workload, threads, ...)        the engine after the run, even if the run failed
    guest("random_sharing")                     a program of programs/, compiled once per session
    broken(folder, file, row, column, cell)     protocol tables with one cell replaced

`machine` is a name or a Machine, `workload` a shipped name or a Program.  Keywords that are fields
of a Job (placement, home, slices, smt, overrides) are passed to the job; all others are parameters
of the program.
"""

from __future__ import annotations

import dataclasses
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars

from uncore import program
from uncore.engine import native
from uncore.execution import request
from uncore.job import Job
from uncore.program import Program
from uncore.protocol import tables
from uncore.result import log
from uncore.topology import Machine

if TYPE_CHECKING:
    from uncore._native import Run

PROGRAMS = Path(__file__).parent / "programs"
OPTIONS = {f.name for f in dataclasses.fields(Job)}


@cache
def guest(name: str) -> Program:
    return program.compile(PROGRAMS / f"{name}.c")


def job(machine: str | Machine, workload: str | Program, threads: int, **words: Any) -> Job:
    options = {key: value for key, value in words.items() if key in OPTIONS}
    parameters = {key: value for key, value in words.items() if key not in OPTIONS}
    return request.make_job(machine, workload, (threads,), parameters=parameters, **options)


def point(
    machine: str | Machine,
    workload: str | Program,
    threads: int,
    limits: dict[str, Any] | None = None,
    **words: Any,
) -> dict[str, Any]:
    """Runs a job natively; returns the fields of its Point. `limits` are options of the engine:
    lookahead, sleep.
    """
    return native.run(job(machine, workload, threads, **words), frozenset(), **(limits or {}))


def logged(
    machine: str | Machine,
    workload: str | Program,
    threads: int,
    limits: dict[str, Any] | None = None,
    **words: Any,
) -> tuple[polars.DataFrame, dict[str, Any]]:
    """Runs a job; returns the transaction log, and the fields of the Point."""
    made = job(machine, workload, threads, **words)
    point = native.run(made, frozenset({"log"}), **(limits or {}))
    return log.frame(point.pop("observed")["log"]), point


def run(machine: str | Machine, workload: str | Program, threads: int, **words: Any) -> Run:
    engine = native.start(job(machine, workload, threads, **words))
    while engine.step(native.MAX_STEP_EVENTS):
        pass
    return engine


def broken(folder: Path, file: str, row: str, column: str, cell: str) -> Path:
    """Writes a directory of protocol tables that are the shipped ones with one cell replaced."""
    columns: list[str] = []
    lines = (tables.SHIPPED / file).read_text().splitlines()
    changed = 0
    for number, line in enumerate(lines):
        head, bar, rest = line.partition("|")
        cells = rest.replace("|", " ").split()
        if not bar or line.startswith("#"):
            columns = []
        elif not columns:
            columns = cells
        elif " ".join(head.split()) == row and column in columns:
            cells[columns.index(column)] = cell
            lines[number] = f"{head}| {' '.join(cells)}"
            changed += 1
    assert changed == 1, f"{file} has no one row '{row}' with a column {column}"
    (folder / file).write_text("\n".join(lines) + "\n")
    return folder
