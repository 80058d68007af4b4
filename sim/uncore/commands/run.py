"""What something costs on a machine: run, of which sweep is another name."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from uncore.api import find_program, job_again
from uncore.commands.finish import draw, finish
from uncore.commands.options import (
    CHART,
    SEVERAL,
    Chart,
    Cores,
    Json,
    Resume,
    Set,
    Several,
    Threads,
    With,
    note,
    workers,
)
from uncore.commands.status import FAILED, INTERRUPTED, OK
from uncore.counterfactual import changed
from uncore.engine.native.state import BEGIN
from uncore.errors import UserError
from uncore.execute import execute
from uncore.host import pinned
from uncore.placement import thread_counts
from uncore.report import curve
from uncore.result import Result, canonical, load_all, save
from uncore.saved import save as save_run
from uncore.saved import take_up
from uncore.words import check_endings, duration, machines_and_workloads, pairs


def run(
    *words: Annotated[
        str, Parameter(help="machines and workloads (names, shapes, .toml, .c, .elf files)")
    ],
    threads: Threads = "1",
    set_: Set = [],  # noqa: B006
    with_: With = [],  # noqa: B006
    choices: Several = SEVERAL,
    cores: Cores = 0,
    chart: Chart = CHART,
    output: Annotated[Path | None, Parameter(help="save the result (.json, .parquet)")] = None,
    again: Annotated[Path | None, Parameter(help="a saved result: run its job, compare")] = None,
    lines: Annotated[
        bool, Parameter(negative="", help="save with the result what `uncore lines` shows")
    ] = False,
    free: Annotated[
        list[str], Parameter(negative="", help="objects of `uncore lines` whose lines cost nothing")
    ] = [],  # noqa: B006
    apart: Annotated[
        list[str], Parameter(negative="", help="fields, A,B, that get lines of their own")
    ] = [],  # noqa: B006
    log: Annotated[Path | None, Parameter(help="every transaction, as a table (.parquet)")] = None,
    host: Annotated[
        bool, Parameter(negative="", help="no machine: measure this computer with the same C")
    ] = False,
    resume: Resume = False,
    save_at: Annotated[
        str | None, Parameter(help="save the run itself when it is there: begin, or a time: 20us")
    ] = None,
    state: Annotated[Path | None, Parameter(help="file of --save-at")] = None,
    from_: Annotated[
        Path | None, Parameter(name="--from", help="go on with a saved run; --set changes it")
    ] = None,
    json: Json = False,
) -> int:
    shown: Any = {"json": json, "chart": chart, "output": output}
    if from_:
        if any((words, with_, again, lines, log, host, resume, save_at, state, free, apart)) or (
            threads,
            choices,
        ) != ("1", SEVERAL):
            raise UserError(
                f"--from {from_}: the file says what runs; only --set, --output, --plot and --json"
                " go with it"
            )
        return _told(take_up(from_, pairs("--set", set_)), **shown)
    if host:
        if again or resume or log or lines or with_ or choices != SEVERAL:
            raise UserError(
                "--host: a real machine has no --with, --log, --lines, --again, --seed or placement"
            )
        return _measure(words, threads, set_, **shown)
    if again:
        others = (words, set_, with_, output, lines, log, resume, json, chart != CHART)
        if any(others) or (threads, choices) != ("1", SEVERAL):
            raise UserError(
                f"--again {again}: runs the job in that file; only --cores goes with it"
            )
        return _again(again, cores)
    machines, workloads = machines_and_workloads("run", words)
    jobs = choices.jobs(machines, workloads, threads, set_, with_)
    jobs = [changed(job, free, apart) for job in jobs]
    _check_files(len(jobs), output, log, lines)
    if save_at or state:
        if not (save_at and state) or len(jobs) > 1 or lines or log or resume:
            raise UserError(
                "--save-at WHEN --state FILE: both, of one run, without --lines, --log or --resume"
            )
        when = save_at if save_at == BEGIN else duration("--save-at", save_at)
        return _told(save_run(jobs[0], when, state), **shown)
    told, files = choices.told(), {"output": output, "log": log}
    return finish(
        jobs, cores, told=told, json=json, lines=lines, chart=chart, resume=resume, **files
    )


def _check_files(jobs: int, output: Path | None, log: Path | None, lines: bool) -> None:
    if log and jobs > 1:
        raise UserError(f"--log {log}: one file holds the log of one machine and workload")
    if lines and not output:
        raise UserError("--lines: where to? write --output FILE.json too")


def _measure(
    words: Sequence[str],
    threads: str,
    set_: Sequence[str],
    *,
    json: bool,
    chart: Chart,
    output: Path | None,
) -> int:
    if len(words) != 1:
        raise UserError("run --host needs one workload and no machine: uncore run --host lock/mcs")
    check_endings({"--output": output, "--plot": chart.plot})
    counts = thread_counts(threads, len(pinned.processors()))
    result = pinned.measure(find_program(words[0]), counts, pairs("--set", set_))
    return _told(result, json=json, chart=chart, output=output)


def _told(result: Result, *, json: bool, chart: Chart, output: Path | None) -> int:
    check_endings({"--output": output, "--plot": chart.plot})
    curve.show([result], json)
    if output:
        save(result, output)
        note(f"result: {output}")
    draw([result], chart)
    return FAILED if result.failed else OK


def _again(path: Path, cores: int) -> int:
    recorded = load_all(path)
    statuses = [_once_more(one, cores) for one in recorded]
    return max(statuses)


def _once_more(recorded: Result, cores: int) -> int:
    job = job_again(recorded)
    points = [job.at(point.threads, point.seed) for point in recorded.points]
    repeated = execute(points, workers(cores))
    if any(result.outcome.partial for result in repeated):
        return INTERRUPTED
    for before, result in zip(recorded.points, repeated, strict=True):
        now = result.points[0].as_kept_by(before)
        differs = [f for f in now.__struct_fields__ if getattr(now, f) != getattr(before, f)]
        if canonical(before) != canonical(now):
            print(f"differs at {now.threads} threads{now.by_seed}: {', '.join(differs)}")
            return FAILED
    print(f"reproduced bit for bit: {len(points)} points, {recorded.result_hash}")
    return OK
