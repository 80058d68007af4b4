"""What something costs on a machine: run, sweep."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from uncore.api import find_program, job_again, load_result, make_job
from uncore.commands.finish import finish
from uncore.commands.options import (
    REPEATED,
    Cores,
    Json,
    Plot,
    Repeated,
    Set,
    Threads,
    With,
    note,
    workers,
)
from uncore.commands.status import FAILED, INTERRUPTED, OK
from uncore.errors import UserError
from uncore.execute import execute
from uncore.host import pinned
from uncore.placement import thread_counts
from uncore.report import curve
from uncore.report.plot import picture
from uncore.result import canonical, save
from uncore.words import axes, check_endings, pairs


def run(
    *words: Annotated[str, Parameter(help="machines, then one workload (name, .c or .elf file)")],
    threads: Threads = "1",
    set_: Set = [],  # noqa: B006
    with_: With = [],  # noqa: B006
    choices: Repeated = REPEATED,
    cores: Cores = 0,
    plot: Plot = None,
    output: Annotated[Path | None, Parameter(help="save the result (.json, .parquet)")] = None,
    again: Annotated[Path | None, Parameter(help="a saved result: run its job, compare")] = None,
    lines: Annotated[
        bool, Parameter(negative="", help="save with the result what `uncore lines` shows")
    ] = False,
    log: Annotated[Path | None, Parameter(help="every transaction, as a table (.parquet)")] = None,
    host: Annotated[
        bool, Parameter(negative="", help="no machine: measure this computer with the same C")
    ] = False,
    json: Json = False,
) -> int:
    if host:
        if again or log or lines or with_ or choices != REPEATED:
            raise UserError(
                "--host: a real machine has no --with, --log, --lines, --again, --seed or placement"
            )
        return _measure(words, threads, set_, json=json, plot=plot, output=output)
    if again:
        others = (words, set_, with_, plot, output, lines, log, json)
        if any(others) or (threads, choices) != ("1", REPEATED):
            raise UserError(
                f"--again {again}: runs the job in that file; only --cores goes with it"
            )
        return _again(again, cores)
    machines, workload = _split("run", words)
    jobs = [choices.job(machine, workload, threads, set_, with_) for machine in machines]
    _check_files(len(jobs), output, log, lines)
    told, files = choices.told(), {"output": output, "log": log, "plot": plot}
    return finish(jobs, cores, told=told, json=json, lines=lines, **files)


def _check_files(jobs: int, output: Path | None, log: Path | None, lines: bool) -> None:
    if output and jobs > 1:
        raise UserError(f"--output {output}: one file holds the result of one machine")
    if log and jobs > 1:
        raise UserError(f"--log {log}: one file holds the log of one machine")
    if lines and not output:
        raise UserError("--lines: where to? write --output FILE.json too")


def _measure(
    words: Sequence[str],
    threads: str,
    set_: Sequence[str],
    *,
    json: bool,
    plot: Path | None,
    output: Path | None,
) -> int:
    if len(words) != 1:
        raise UserError("run --host needs one workload and no machine: uncore run --host lock/mcs")
    check_endings({"--output": output, "--plot": plot})
    counts = thread_counts(threads, len(pinned.processors()))
    result = pinned.measure(find_program(words[0]), counts, pairs("--set", set_))
    curve.show([result], json)
    if output:
        save(result, output)
        note(f"result: {output}")
    if plot:
        note(f"picture: {picture(plot, curve.panel([result]))}")
    return FAILED if result.failed else OK


def _split(command: str, words: Sequence[str]) -> tuple[Sequence[str], str]:
    """Machines, then one workload."""
    if len(words) < 2:
        raise UserError(
            f"{command} needs a machine and a workload: uncore {command} epyc7601x2 lock/ticket"
        )
    return words[:-1], words[-1]


def _again(path: Path, cores: int) -> int:
    recorded = load_result(path)
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


def sweep(
    *words: Annotated[str, Parameter(help="machines, then one workload")],
    threads: Threads = "1",
    set_: Set = [],  # noqa: B006
    with_: With = [],  # noqa: B006
    choices: Repeated = REPEATED,
    cores: Cores = 0,
    plot: Plot = None,
    json: Json = False,
) -> int:
    machines, workload = _split("sweep", words)
    overrides, parameters = axes("--with", choices.numbers(with_)), axes("--set", set_)
    jobs = [
        make_job(
            machine,
            workload,
            threads,
            overrides=chosen,
            parameters=values,
            **choices.policies(),
        )
        for machine, chosen, values in product(machines, overrides, parameters)
    ]
    return finish(jobs, cores, told=choices.told(), json=json, plot=plot)
