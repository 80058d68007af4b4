"""Executes the jobs of `run` and `sweep`, and reports them.

`finish(jobs, workers, ...)` executes the jobs, prints and saves their results, and returns the exit
status.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, TextIO

from uncore.cli import failures as failure_notes
from uncore.cli import kept_files
from uncore.cli.options import Chart, command, note, show_unfinished
from uncore.cli.options.of_run import Outputs
from uncore.cli.status import FAILED, INTERRUPTED, OK
from uncore.drawing.progress import progress
from uncore.engine import EngineOptions, Observers
from uncore.errors import GuestError, Unfinished
from uncore.execution.execute import execute
from uncore.execution.pool import Workers
from uncore.execution.saved_points import Store
from uncore.execution.uncertainty import with_intervals
from uncore.job import Job
from uncore.report import curve
from uncore.report import lines as lines_report
from uncore.result import Result, Results, repeats, save, to_medians
from uncore.result.frame import write_csv
from uncore.result.schema import by_seed
from uncore.study.fences.history import hint
from uncore.support.printable import plain
from uncore.support.signals import saving
from uncore.topology import migration

# job of one point, and the observations of its run by the observers' names (engine.OBSERVERS)
PointObservations = tuple[Job, dict[str, Any]]
# job of a point whose program failed or was interrupted, and the exception
EndedPoint = tuple[Job | None, BaseException]


def finish(
    jobs: Sequence[Job],
    workers: AbstractContextManager[Workers],
    chart: Chart,
    outputs: Outputs,
    *,
    sampled: Sequence[Sequence[Job]],
    engine_options: EngineOptions,
    resume: bool = False,
    calls: bool = False,
) -> int:
    log, json = outputs.log, outputs.json
    _check_chart(chart, jobs)
    observers = _observers(lines=outputs.lines, log=log, calls=calls, files=outputs.keep)
    with saving() as hold:
        all_jobs = [*jobs, *(job for group in sampled for job in group)]
        results, observations, ends = _simulate(
            all_jobs, workers, observers, engine_options, resume, hold
        )
        results = with_intervals(results[: len(jobs)], sampled, results[len(jobs) :])
        save_files(Results(results), outputs)
    show_output([] if json else results)
    failed_jobs = _show_ends(ends, sys.stderr if json else sys.stdout)
    _note_missing(results)
    _note_unmarked(jobs)
    curve.show(results, json)
    if len(jobs) == 1 and results[0].points and not json:
        point = repeats(results[0])[-1].median
        lines_report.show(jobs[0].program, point, jobs[0].machine.line)
    note_files(outputs)
    _save_observations(outputs, observations, ends)
    draw(results, chart)
    _report(results, jobs, chart.report, engine_options)
    _print_hints([] if json else jobs)
    if failed_jobs or any(result.failed for result in results):
        failure_notes.explain(jobs, results, failed_jobs, engine_options)
        return FAILED
    return _exit_status(results)


def save_files(results: Result | Results, outputs: Outputs) -> None:
    """Saves results before anything is printed, because the reader of the output may close the
    pipe.
    """
    if outputs.output:
        save(results, outputs.output)
    if outputs.csv:
        write_csv(to_medians(results if isinstance(results, Results) else [results]), outputs.csv)


def note_files(outputs: Outputs) -> None:
    if outputs.output:
        note(f"result: {outputs.output}")
    if outputs.csv:
        note(f"table: {outputs.csv}")


def _report(
    results: Sequence[Result], jobs: Sequence[Job], path: Path | None, engine_options: EngineOptions
) -> None:
    if path:
        from uncore.report import document  # noqa: PLC0415 (slow to load)

        document.write_run(path, results, jobs, command(), engine_options)
        note(f"report: {path}")


def _add_observations(
    job: Job, observed: dict[str, Any], observations: list[PointObservations]
) -> None:
    observations.append(
        (job, {name: observed[name] for name in ("log", "files") if name in observed})
    )
    if calls := observed.get("calls"):
        note(calls.rstrip("\n"))


def _save_observations(
    outputs: Outputs, observations: Sequence[PointObservations], ends: Sequence[EndedPoint]
) -> None:
    if outputs.log and observations:
        _save_log([(job, observed["log"]) for job, observed in observations], outputs.log)
    if outputs.keep:
        _keep(
            outputs.keep,
            [*observations, *((job, Unfinished.observed_of(end)) for job, end in ends)],
        )


def _keep(folder: Path, points: Sequence[tuple[Job | None, Mapping[str, Any]]]) -> None:
    """Writes the files of each point; if there are several points, each gets its own folder."""
    for job, observed in points:
        threads, seed = (job.threads[0], job.seed) if job else ("interrupted", None)
        name = f"{threads}" if seed is None else f"{threads}-{seed}"
        point_folder = folder / name if len(points) > 1 else folder
        kept_files.keep(point_folder, observed.get("files", ()))


def _print_hints(jobs: Sequence[Job]) -> None:
    programs = {job.program.path: job for job in jobs if not job.program.linux}
    for advice in filter(None, map(hint, programs.values())):
        note(advice)
    machines = {job.machine.id: job.machine for job in jobs}.values()
    for open_choice in filter(None, map(migration.open_choice, machines)):
        note(open_choice)


def _observers(**switches: object) -> Observers:
    return frozenset(name for name, enabled in switches.items() if enabled)


def show_output(results: Sequence[Result]) -> None:
    """Prints the output of Linux programs; equal output of several points is printed once."""
    points = [point for result in results for point in result.points]
    texts = [point.output for point in points if isinstance(point.output, str)]
    for text in dict.fromkeys(texts):
        print(plain(text), end="" if text.endswith("\n") or not text else "\n")


def _exit_status(results: Sequence[Result]) -> int:
    if any(result.outcome.partial for result in results):
        note("interrupted: the same command with --resume goes on from here")
        return INTERRUPTED
    return OK


def _check_chart(chart: Chart, jobs: Sequence[Job]) -> None:
    selection = chart.wanted()
    if chart.plot:
        from uncore.report import chart as charts  # noqa: PLC0415 (slow to load)

        charts.check(selection, (job.document() for job in jobs))


def draw(results: Sequence[Result], chart: Chart) -> None:
    if chart.plot and any(result.points for result in results):
        from uncore.drawing.plot import picture  # noqa: PLC0415 (slow to load)
        from uncore.report.chart import panels  # noqa: PLC0415 (slow to load)

        note(f"picture: {picture(chart.plot, *panels(results, chart.wanted()))}")


def _simulate(
    jobs: Sequence[Job],
    workers: AbstractContextManager[Workers],
    observers: Observers,
    engine_options: EngineOptions,
    resume: bool,
    ended: Callable[[], None],
) -> tuple[list[Result], list[PointObservations], list[EndedPoint]]:
    """Executes jobs; returns their results, the observations of points, and the exceptions that
    ended points without a result.
    """
    observations: list[PointObservations] = []
    ends: list[EndedPoint] = []
    points = [point for job in jobs for point in job.points()]
    total = sum(point.threads[0] for point in points)
    with workers as crew, progress(total, "simulating") as advance:
        results = execute(
            jobs,
            crew,
            lambda job, point: advance(point.threads),
            lambda job, error: ends.append((job, error)),
            observers,
            tick=lambda operations, reached, under_way=1: advance.reached(reached, under_way),
            seen=lambda job, observed: _add_observations(job, observed, observations),
            engine_options=engine_options,
            store=Store(),
            resume=resume,
            interrupted=lambda job, stopped: ends.append((job, stopped)),
            ended=ended,
        )
    if resume:
        resumed_count = sum(result.host.resumed for result in results)
        note(f"resumed: {resumed_count} of {len(points)} points were finished before")
    return results, observations, ends


def _show_ends(ends: Sequence[EndedPoint], file: TextIO) -> list[Job]:
    """Prints the output of programs that failed or were interrupted, and the reasons; returns the
    jobs that failed.

    Equal output of several interrupted programs is printed once.
    """
    failed_jobs = [(job, error) for job, error in ends if job and isinstance(error, GuestError)]
    stopped = {Unfinished.output_of(e): e for _, e in ends if isinstance(e, KeyboardInterrupt)}
    for interrupted in stopped.values():
        show_unfinished(interrupted, file)
    for job, error in failed_jobs:
        show_unfinished(error, file)
        point_text = f"{job.machine.id} at {job.threads[0]} threads{by_seed(job.seed)}"
        note(f"uncore: {point_text}: {error}")
    return [job for job, _ in failed_jobs]


def _note_missing(results: Sequence[Result]) -> None:
    lists = [point.missing_calls for result in results for point in result.points]
    names = {name: None for names in lists if isinstance(names, list) for name in names}
    if names:
        note(
            f"system calls that are not there, of which the program was told: {', '.join(names)}"
            " (--strict-calls ends the run)"
        )


def _note_unmarked(jobs: Sequence[Job]) -> None:
    if any(job.program.linux and job.unmarked for job in jobs):
        note(
            "nothing is marked: all is one operation, from the first thread's start to the last"
            " one's end (--op FUNCTION, --from-function)"
        )


def _save_log(logs: Sequence[tuple[Job, Any]], path: Path) -> None:
    from uncore.result import log  # noqa: PLC0415 (slow to load)

    tables = [(job.threads[0], job.seed, log.frame(columns)) for job, columns in logs]
    log.save(sorted(tables, key=lambda table: (table[0], table[1] or 0)), path)
    note(f"transaction log: {path}")
