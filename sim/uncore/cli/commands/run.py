"""The command `run`, also called `sweep`: workloads on machines."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from uncore.cli import kept_files
from uncore.cli.finish import draw, finish, note_files, save_files, show_output
from uncore.cli.options import (
    CHART,
    CREW,
    ENGINE_WORDS,
    ESTIMATED,
    JOB_WORDS,
    Chart,
    Crew,
    EngineWords,
    Estimate,
    JobWords,
    Resume,
    Samples,
    Threads,
    untouched,
)
from uncore.cli.options.groups import HERE, SAVED
from uncore.cli.options.of_linux import ON_LINUX, OnLinux
from uncore.cli.options.of_run import OUTPUTS, WHAT_IF, Outputs, WhatIf
from uncore.cli.options.saved_state import NO_SAVED_STATE, SavedState
from uncore.cli.status import FAILED, INTERRUPTED, OK
from uncore.engine import EngineOptions
from uncore.engine.native.state import AT_BEGIN
from uncore.errors import UserError
from uncore.execution.execute import execute
from uncore.execution.pool import Workers
from uncore.execution.rerun import job_again
from uncore.execution.saved_run import resume_saved
from uncore.execution.saved_run import save as save_run
from uncore.execution.uncertainty import DEFAULT_SAMPLES, sampled_jobs
from uncore.host import pinned
from uncore.host.program import measure
from uncore.job import Job
from uncore.job.option_values import check_outputs, duration, machines_and_workloads, pairs
from uncore.job.placement import thread_counts
from uncore.report import curve
from uncore.result import Result, canonical, load_all

Words = Annotated[
    str, Parameter(help="machines and workloads (names, shapes, .toml, .c, .elf files)")
]
Again = Annotated[
    Path | None,
    Parameter(help="run the job of this saved result again, and compare the outcomes", group=SAVED),
]
Host = Annotated[
    bool,
    Parameter(
        negative="",
        help="measure this computer instead of a machine, with the same C program",
        group=HERE,
    ),
]


def run(
    *words: Words,
    threads: Threads = "1",
    job_words: JobWords = JOB_WORDS,
    chance: Estimate = ESTIMATED,
    engine_words: EngineWords = ENGINE_WORDS,
    crew: Crew = CREW,
    chart: Chart = CHART,
    outputs: Outputs = OUTPUTS,
    again: Again = None,
    what_if: WhatIf = WHAT_IF,
    host: Host = False,
    resume: Resume = False,
    samples: Samples = DEFAULT_SAMPLES,
    saved_state: SavedState = NO_SAVED_STATE,
    on_linux: OnLinux = ON_LINUX,
) -> int:
    check_outputs(outputs.files() | chart.files() | saved_state.files())
    engine_options, set_ = engine_words.engine_options(), job_words.parameters
    default_job = all(map(untouched, (replace(job_words, parameters=[]), chance, what_if)))
    default_run = default_job and not (outputs.lines or outputs.log or outputs.keep or resume)
    no_job = default_run and threads == "1" and not words
    if saved_state.from_:
        _check_from(saved_state, no_job and not (again or host))
        return _report(
            resume_saved(saved_state.from_, pairs("--set", set_), engine_options), chart, outputs
        )
    if host:
        is_only_option = (
            default_run and not (again or engine_options) and saved_state == NO_SAVED_STATE
        )
        _check_host(is_only_option, chart, outputs)
        return _report(_measure_host(words, threads, set_, on_linux), chart, outputs)
    if again:
        _check_again(
            again, no_job and not set_ and not (outputs.output or outputs.csv) and chart == CHART
        )
        return _rerun_all(again, crew.at_work(), engine_options)
    unchanged_jobs = _jobs(words, threads, job_words, chance, on_linux)
    jobs = _with_changes(unchanged_jobs, what_if, engine_options)
    _check_files(len(jobs), outputs)
    if saved_state != NO_SAVED_STATE:
        point = _moment_and_file(
            saved_state, jobs, outputs.lines or outputs.log or outputs.keep or resume
        )
        return _report(save_run(jobs[0], *point, engine_options), chart, outputs)
    drawn_jobs = _sampled_jobs(words, jobs, 0 if outputs.log else samples)
    execution_options: Any = {"resume": resume, "calls": on_linux.strace, "sampled": drawn_jobs}
    return finish(
        jobs, crew.at_work(), chart, outputs, engine_options=engine_options, **execution_options
    )


def _jobs(
    words: Sequence[str], threads: str, job_words: JobWords, chance: Estimate, on_linux: OnLinux
) -> list[Job]:
    machines, workloads = machines_and_workloads("run", words)
    programs = [on_linux.program(workload) for workload in workloads]
    return [*map(on_linux.of_job, job_words.jobs(machines, programs, threads, chance))]


def _with_changes(jobs: list[Job], what_if: WhatIf, engine_options: EngineOptions) -> list[Job]:
    if untouched(what_if):
        return jobs
    from uncore.study.whatif import changed  # noqa: PLC0415 (slow to load)

    return [changed(job, what_if.free, what_if.apart, engine_options) for job in jobs]


def _sampled_jobs(words: Sequence[str], jobs: Sequence[Job], count: int) -> list[list[Job]]:
    """Returns samples of each job, on machines with randomly drawn numbers; `jobs` are ordered by
    machine.
    """
    machines, _ = machines_and_workloads("run", words)
    names = [name for name in machines for _ in range(len(jobs) // len(machines))]
    return sampled_jobs(names, jobs, count)


def _check_from(saved_state: SavedState, is_only_option: bool) -> None:
    if not is_only_option or saved_state != SavedState(from_=saved_state.from_):
        raise UserError(
            f"--from {saved_state.from_}: the file says what runs; only --set, --output, --plot,"
            " --json"
            " and limits such as --max-time go with it"
        )


def _check_host(is_only_option: bool, chart: Chart, outputs: Outputs) -> None:
    if not is_only_option:
        raise UserError(
            "--host: a real machine has no --with, --log, --lines, --again, --seed or placement"
        )


def _check_again(again: Path, is_only_option: bool) -> None:
    if not is_only_option:
        raise UserError(
            f"--again {again}: runs the job in that file; only --cores and limits such as"
            " --max-time go with it"
        )


def _moment_and_file(
    saved_state: SavedState, jobs: Sequence[Job], watched: object
) -> tuple[int | str, Path]:
    """Returns the moment at which to save the run, and the file to write."""
    if watched or len(jobs) > 1 or not saved_state.state:
        raise UserError(
            "--state FILE, and --save-at WHEN with it: of one run, without --lines, --log,"
            " --keep or --resume"
        )
    moment = saved_state.save_at
    return moment if moment == AT_BEGIN else duration("--save-at", moment), saved_state.state


def _check_files(jobs: int, outputs: Outputs) -> None:
    if outputs.log and jobs > 1:
        raise UserError(f"--log {outputs.log}: one file holds the log of one machine and workload")
    if outputs.keep:
        kept_files.check(outputs.keep)
    if outputs.lines and not outputs.output:
        raise UserError("--lines: where to? write --output FILE.json too")


def _measure_host(
    words: Sequence[str], threads: str, set_: Sequence[str], on_linux: OnLinux
) -> Result:
    if len(words) != 1:
        raise UserError("run --host needs one workload and no machine: uncore run --host lock/mcs")
    counts = thread_counts(threads, len(pinned.processors()))
    sources, values = on_linux.sources(words[0]), pairs("--set", set_)
    if not sources:
        on_linux.check_unused(words[0])
        return pinned.measure(on_linux.program(words[0]), counts, values)
    if values:
        raise UserError("--set: a program with main() has no parameters; its words stand behind --")
    return measure(sources, counts, on_linux.arguments)


def _report(result: Result, chart: Chart, outputs: Outputs) -> int:
    save_files(result, outputs)
    show_output([] if outputs.json else [result])
    curve.show([result], outputs.json)
    note_files(outputs)
    draw([result], chart)
    return FAILED if result.failed else OK


def _rerun_all(
    path: Path, crew: AbstractContextManager[Workers], engine_options: EngineOptions
) -> int:
    with crew as workers:
        return max(_rerun(result, workers, engine_options) for result in load_all(path))


def _rerun(recorded: Result, workers: Workers, engine_options: EngineOptions) -> int:
    job = job_again(recorded)
    points = [job.at(point.threads, point.seed) for point in recorded.points]
    repeated = execute(points, workers, engine_options=engine_options)
    if any(result.outcome.partial for result in repeated):
        return INTERRUPTED
    for recorded_point, result in zip(recorded.points, repeated, strict=True):
        repeated_point = result.points[0].limited_to(recorded_point)
        differing = [
            f
            for f in repeated_point.__struct_fields__
            if getattr(repeated_point, f) != getattr(recorded_point, f)
        ]
        if canonical(recorded_point) != canonical(repeated_point):
            point_text = f"{repeated_point.threads} threads{repeated_point.by_seed}"
            print(f"differs at {point_text}: {', '.join(differing)}")
            return FAILED
    print(f"reproduced bit for bit: {len(points)} points, {recorded.result_hash}")
    return OK
