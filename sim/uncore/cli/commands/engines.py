"""Engines, ours and other simulators: engines, export, crosscheck, diff-engines."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from uncore import engine
from uncore.cli.options import (
    ENGINE_WORDS,
    JOB_WORDS,
    LOCKSTEP,
    EngineWords,
    JobWords,
    Json,
    Lockstep,
    Threads,
    note,
)
from uncore.cli.status import FAILED, OK
from uncore.drawing.progress import progress
from uncore.drawing.table import Column, emit
from uncore.errors import UserError
from uncore.report import agreement as agreement_report
from uncore.report import crosscheck as crosscheck_report
from uncore.study.compare import agreement
from uncore.study.compare import crosscheck as crossing

DEFAULT = ("native", "reference", "sst")  # engines that crosscheck compares


def engines(*, json: Json = False) -> int:
    rows = [
        {
            "engine": name,
            "missing": engine.missing(name),
            "about": engine.about(name),
            "gives": engine.gives(name),
        }
        for name in engine.names()
    ]
    columns = [
        Column("engine", "engine", left=True),
        Column("here", lambda row: row["missing"] or "ready", left=True),
        Column("about", "about", left=True),
        Column("gives", lambda row: " ".join(row["gives"]), left=True, minor=True),
    ]
    emit(rows, json, columns)
    return OK


def export(
    simulator: Annotated[Literal["sst", "gem5"], Parameter(help="for whom")],
    machine: str,
    workload: str,
    *,
    output: Annotated[Path, Parameter(name=["--output", "-o"], help="the folder; it must be new")],
    threads: Annotated[str, Parameter(help="how many: one number, or max")] = "max",
    job_words: JobWords = JOB_WORDS,
    chance: Lockstep = LOCKSTEP,
    engine_words: EngineWords = ENGINE_WORDS,
) -> int:
    job = job_words.job(machine, workload, threads, chance)
    if len(job.threads) != 1:
        raise UserError(f"--threads {threads}: one folder is one run; write one number")
    if output.exists():
        raise UserError(f"--output {output}: there is one already; name a new folder")
    engine.export(replace(job, engine=simulator), output, engine_words.engine_options())
    note(f"run folder: {output} (README.md says how to run it)")
    return OK


def crosscheck(
    machine: str,
    workload: str,
    *,
    engines: Annotated[
        str,
        Parameter(
            help="the first is what the others are compared with; none: native, reference, and sst"
            " where it is found"
        ),
    ] = "",
    threads: Threads = "2",
    job_words: JobWords = JOB_WORDS,
    chance: Lockstep = LOCKSTEP,
    engine_words: EngineWords = ENGINE_WORDS,
    json: Json = False,
) -> int:
    job = job_words.job(machine, workload, threads, chance)
    engine_options = engine_words.engine_options()
    installed = (name for name in DEFAULT if not engine.missing(name, engine_options))
    names = [name.strip() for name in engines.split(",")] if engines else list(installed)
    if len(names) < 2 or len(set(names)) < len(names):
        raise UserError(f"--engines {engines}: write at least two different ones")
    if not job_words.slow:
        for name in names:
            engine.refuse_slow(replace(job, engine=name))
    with progress(len(job.threads) * len(names), "comparing", "runs") as advance:
        comparisons = crossing.crosscheck(job, names, lambda: advance(1), engine_options)
    crosscheck_report.show(comparisons, crossing.reasons(names), json)
    return FAILED if any(crossed.broken() for crossed in comparisons) else OK


def diff_engines(
    machine: str,
    workload: str,
    *,
    threads: Threads = "1",
    job_words: JobWords = JOB_WORDS,
    chance: Lockstep = LOCKSTEP,
    engine_words: EngineWords = ENGINE_WORDS,
    against: Annotated[str, Parameter(help="the engine to compare --engine with")] = "reference",
    json: Json = False,
) -> int:
    job = job_words.job(machine, workload, threads, chance)
    if not job_words.slow:
        engine.refuse_slow(replace(job, engine=against))
    engines = (job.engine, against)
    with progress(len(job.threads), "comparing", "jobs") as advance:
        agreements = []
        for point in job.points():
            agreements.append(
                agreement.compare(point, engines, engine_options=engine_words.engine_options())
            )
            advance(1)
    agreement_report.show(agreements, engines, json)
    return OK if all(pair.equal for pair in agreements) else FAILED
