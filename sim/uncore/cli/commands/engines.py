"""Commands on engines, both uncore's and other simulators: engines, export, crosscheck,
diff-engines.
"""

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
    Machine,
    Plot,
    Threads,
    Workload,
    note,
)
from uncore.cli.status import FAILED, OK
from uncore.drawing.plot import picture
from uncore.drawing.progress import progress
from uncore.drawing.table import Column, emit
from uncore.engine import EngineOptions
from uncore.engine.outside.run import ignored
from uncore.errors import UserError
from uncore.job import Job
from uncore.job.option_values import check_outputs
from uncore.report import installation
from uncore.result.schema import QUANTITIES
from uncore.study.compare import agreement, agreement_report, crosscheck_report
from uncore.study.compare import crosscheck as crosscheck_study
from uncore.study.compare import outside as outside_comparison
from uncore.support import paths

Output = Annotated[
    Path | None,
    Parameter(
        help="with --all: folder for its result files; default: validation/results of the checkout"
    ),
]
DEFAULT_ENGINES = ("native", "reference", "sst")  # engines that crosscheck compares


def engines(
    *,
    report: Annotated[
        bool,
        Parameter(
            negative="", help="print the facts about this installation that a bug report needs"
        ),
    ] = False,
    json: Json = False,
) -> int:
    if report:
        installation.show(json)
        return OK
    rows = [
        {
            "engine": name,
            "missing": engine.missing(name),
            "about": engine.about(name),
            "gives": sorted(QUANTITIES - engine.load(name).ABSENT_FIELDS.keys()),
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
    simulator: Annotated[Literal["sst", "gem5"], Parameter(help="the other simulator")],
    machine: Machine,
    workload: Workload,
    *,
    output: Annotated[
        Path, Parameter(name=["--output", "-o"], help="the run folder, which must not exist yet")
    ],
    threads: Annotated[str, Parameter(help="number of threads, or max")] = "max",
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
    if words := ignored(job.machine):
        note(words)
    return OK


def crosscheck(
    machine: Machine = "",
    workload: Workload = "",
    *,
    all_: Annotated[
        bool,
        Parameter(
            name="--all",
            negative="",
            help="run the whole standard comparison with all installed outside engines, instead"
            " of a single job",
        ),
    ] = False,
    output: Output = None,
    plot: Plot = None,
    engines: Annotated[
        str,
        Parameter(
            help="engines to compare, separated by commas; the first is the base of comparison;"
            " default: native, reference, and sst if it is installed"
        ),
    ] = "",
    threads: Threads = "2",
    job_words: JobWords = JOB_WORDS,
    chance: Lockstep = LOCKSTEP,
    engine_words: EngineWords = ENGINE_WORDS,
    json: Json = False,
) -> int:
    engine_options = engine_words.engine_options()
    if all_:
        return _crosscheck_all(engines, output, plot, engine_options, json)
    if not workload or plot or output:
        raise UserError("crosscheck: write a machine and a workload, or --all with its options")
    job = job_words.job(machine, workload, threads, chance)
    names = _engines_to_compare(engines, job, job_words.slow, engine_options)
    with progress(len(job.threads) * len(names), "comparing", "runs") as advance:
        comparisons = crosscheck_study.crosscheck(job, names, lambda: advance(1), engine_options)
    crosscheck_report.show(comparisons, crosscheck_study.reasons(names), json)
    return FAILED if any(crossed.broken() for crossed in comparisons) else OK


def _engines_to_compare(engines: str, job: Job, slow: bool, options: EngineOptions) -> list[str]:
    """Returns the engines that the user names, or those of DEFAULT_ENGINES that are installed."""
    installed = (name for name in DEFAULT_ENGINES if not engine.missing(name, options))
    names = [name.strip() for name in engines.split(",")] if engines else list(installed)
    if len(names) < 2 or len(set(names)) < len(names):
        raise UserError(f"--engines {engines}: write at least two different ones")
    if not slow:
        for name in names:
            engine.refuse_slow(replace(job, engine=name))
    return names


def _crosscheck_all(
    engines: str, output: Path | None, plot: Path | None, options: EngineOptions, json: bool
) -> int:
    check_outputs({"--plot": plot})
    engine_names = (
        [name.strip() for name in engines.split(",")] if engines else outside_comparison.ENGINES
    )
    if unknown_names := [
        name for name in engine_names if name not in ("native", *outside_comparison.ENGINES)
    ]:
        raise UserError(
            f"--engines {engines}: '{unknown_names[0]}' is not one that --all compares with native;"
            f" expected {' or '.join(outside_comparison.ENGINES)}"
        )
    outside = [name for name in engine_names if name != "native"]
    names = [name for name in outside if engines or not engine.missing(name, options)]
    for name in names:
        engine.usable(name, engine_options=options)
    folder = output or (paths.CHECKOUT and paths.CHECKOUT / "validation/results")
    if not names or not folder or not folder.is_dir():
        raise UserError(
            f"crosscheck --all: expected SST or gem5 here (`uncore engines`), and a folder for the"
            f" files: {folder or '--output FOLDER'}"
        )
    jobs = outside_comparison.jobs(names)
    with progress(len(jobs), "comparing", "jobs") as advance:
        compared = list(outside_comparison.rows(jobs, lambda: advance(1), note, options))
    outside_comparison.write(folder, compared)
    crosscheck_report.show_all(compared, json)
    if plot:
        note(f"picture: {picture(plot, *crosscheck_report.panels(compared))}")
    return FAILED if any(crossed.broken() for _, crossed, _ in compared) else OK


def diff_engines(
    machine: Machine,
    workload: Workload,
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
