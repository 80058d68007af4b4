"""The commands that analyse results: lines, conflicts, scaling, compare."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from cyclopts import Parameter, validators

from uncore.cli.options import (
    CREW,
    DRAWN,
    ENGINE_WORDS,
    ESTIMATED,
    JOB_WORDS,
    Crew,
    Csv,
    Drawn,
    EngineWords,
    Estimate,
    JobWords,
    Json,
    Plot,
    Report,
    Threads,
    Workload,
    command,
    note,
    untouched,
)
from uncore.cli.options.of_linux import ON_LINUX, OnLinux
from uncore.cli.status import FAILED, INTERRUPTED, OK
from uncore.drawing.plot import picture
from uncore.drawing.table import print_json
from uncore.engine import EngineOptions
from uncore.errors import GuestError, UserError
from uncore.execution.execute import execute
from uncore.execution.rerun import observe
from uncore.job.option_values import check_outputs, is_workload
from uncore.program import Program
from uncore.report import beside as beside_report
from uncore.report import c2c, objects
from uncore.report import conflicts as conflicts_report
from uncore.report import costs as costs_report
from uncore.report import scaling as scaling_report
from uncore.result import Observed, Result, load
from uncore.result.conflicts import pairs as pairs_of
from uncore.result.frame import write_csv
from uncore.result.observed import Shared
from uncore.result.scaling import analyse
from uncore.result.sharing import costs as costs_of
from uncore.study.compare import comparison_report as compare_report
from uncore.study.compare import results as compare_study


def lines(
    result: Annotated[
        Path, Parameter(help="a saved result; it is run again if it was saved without --lines")
    ],
    *,
    threads: Annotated[
        int | None, Parameter(help="thread count of the point to show; default: the last")
    ] = None,
    seed: Annotated[
        int | None, Parameter(help="seed of the repeat to show; default: the median")
    ] = None,
    top: Annotated[
        int, Parameter(validator=validators.Number(gte=1), help="number of rows to print")
    ] = 8,
    by: Annotated[
        Literal["object", "address"],
        Parameter(help="one row per object, or per address of a cache line"),
    ] = "object",
    format_: Annotated[
        Literal["table", "c2c"],
        Parameter(name="--format", help="table, or c2c: the columns of perf c2c"),
    ] = "table",
    chain: Annotated[
        bool,
        Parameter(
            negative="", help="also print the functions between a row's source line and the access"
        ),
    ] = False,
    beside: Annotated[
        Path | None,
        Parameter(help="output of `perf c2c report --stdio` from a real machine, to compare with"),
    ] = None,
    engine_words: EngineWords = ENGINE_WORDS,
    json: Json = False,
) -> int:
    recorded = load(result)
    observed = observe(recorded, threads, seed, engine_words.engine_options())
    if beside:
        beside_report.show(recorded, observed, beside, top, json)
    elif format_ == "c2c":
        c2c.show(recorded, observed, top, json)
    elif by == "address" and json:
        print_json(costs_of(observed))
    elif by == "address":
        costs_report.show(recorded, observed, top)
    elif json:
        print_json(objects.Lines(recorded, observed).to_rows())
    else:
        objects.show(objects.Lines(recorded, observed), top, chain)
    return OK


def conflicts(
    workload: Workload,
    *,
    machine: Annotated[str, Parameter(help="the machine to run on")] = "ccx:2x4",
    threads: Annotated[
        int, Parameter(validator=validators.Number(gte=2), help="number of threads")
    ] = 4,
    job_words: JobWords = JOB_WORDS,
    chance: Drawn = DRAWN,
    engine_words: EngineWords = ENGINE_WORDS,
    json: Json = False,
) -> int:
    job = job_words.job(machine, workload, (threads,), chance)
    observations: list[Any] = []
    result = execute(
        [job],
        observers=frozenset({"operations"}),
        seen=lambda _, observed: observations.append(observed),
        engine_options=engine_words.engine_options(),
    )[0]
    if not observations:
        return INTERRUPTED
    pairs_met = pairs_of(
        job.program.kinds, msgspec.convert(observations[0]["operations"], list[Shared])
    )
    if json:
        print_json(pairs_met)
    else:
        seed = "" if job.seed is None else f", seed {job.seed}"
        title = f"{job.program.name} on {job.machine.id}, {threads} threads{seed}"
        conflicts_report.show(title, pairs_met)
    return FAILED if result.failed else OK


def scaling(
    result: Annotated[
        Path, Parameter(help="a saved result with several thread counts, including 1")
    ],
    *,
    plot: Plot = None,
    json: Json = False,
) -> int:
    check_outputs({"--plot": plot})
    analysis = analyse(load(result))
    if json:
        print_json(analysis)
    else:
        scaling_report.show(analysis)
    if plot:
        note(f"picture: {picture(plot, scaling_report.panel(analysis))}")
    return OK


def compare(
    *words: Annotated[
        str,
        Parameter(
            help="a machine and two workloads, two machines and a workload, or two saved results"
        ),
    ],
    threads: Threads = "1",
    job_words: JobWords = JOB_WORDS,
    chance: Estimate = ESTIMATED,
    engine_words: EngineWords = ENGINE_WORDS,
    crew: Crew = CREW,
    plot: Plot = None,
    report: Report = None,
    on_linux: OnLinux = ON_LINUX,
    csv: Csv = None,
    json: Json = False,
) -> int:
    check_outputs({"--plot": plot, "--report": report, "--csv": csv})
    limits = engine_words.engine_options()
    if words and all(_is_result(word) for word in words):
        results = _results_to_compare(
            words, threads == "1" and untouched(job_words) and untouched(chance)
        )
    else:
        sides = _sides(words, on_linux)
        jobs = [on_linux.of_job(job_words.job(*side, threads, chance)) for side in sides]
        with crew.at_work() as workers:
            results = execute(jobs, workers, engine_options=limits)
    if any(result.outcome.partial for result in results):
        return INTERRUPTED
    threads_compared = compare_study.most_threads(results[0], results[1])
    comparison = compare_study.compare(
        results[0], results[1], _observe(results, threads_compared, limits)
    )
    if csv:
        write_csv([msgspec.to_builtins(row) for row in comparison.rows], csv)
        note(f"table: {csv}")
    if json:
        print_json(comparison)
    else:
        compare_report.show(comparison, _next_command(comparison, results, words, on_linux))
    if plot:
        note(f"picture: {picture(plot, compare_report.panel(comparison))}")
    _report(report, comparison)
    return FAILED if any(result.failed for result in results) else OK


def _results_to_compare(words: Sequence[str], is_only_option: bool) -> list[Result]:
    if len(words) != 2 or not is_only_option:
        raise UserError("compare A.json B.json: two results; no option of a run but its limits")
    return [load(Path(word)) for word in words]


def _next_command(
    comparison: compare_study.Comparison,
    results: Sequence[Result],
    given_words: Sequence[str],
    on_linux: OnLinux,
) -> str:
    """Returns the command that shows why the two sides differ: `watch`, or for Linux programs,
    which cannot be watched, `whatif` on the slower side.
    """
    threads = comparison.threads
    if not untouched(on_linux):
        slower_side = 0 if comparison.rows[-1].ratio > 1 else 1
        two_sides = [word for word in given_words if is_workload(word)]
        if len(two_sides) == 1:
            two_sides = [word for word in given_words if not is_workload(word)]
        command_words = [
            word for word in given_words if word not in two_sides or word == two_sides[slower_side]
        ]
        whatif_words = shlex.join(command_words)
        command = f"uncore whatif {whatif_words} --threads {threads} {shlex.join(on_linux.words())}"
        return f"To see what would help {two_sides[slower_side]}:\n  {command}"
    options = f"--threads {threads} --around slowest --output w.html"
    runs = _arguments_of_both_runs(results, given_words)
    return f"To see where they part:\n  uncore watch {runs} {options}"


def _arguments_of_both_runs(results: Sequence[Result], given_words: Sequence[str]) -> str:
    """Returns command-line arguments that repeat both runs: the user's words, or if the user gave
    saved results, arguments made from their jobs.
    """
    jobs = [result.job for result in results]
    names = [*(job["machine"]["id"] for job in jobs), *(job["program"]["name"] for job in jobs)]
    words = [*dict.fromkeys(names if all(map(_is_result, given_words)) else given_words)]
    for flag, field in (("--set", "parameters"), ("--with", "overrides")):
        values: dict[str, dict[str, None]] = {}
        for name, value in (pair for job in jobs for pair in job[field]):
            values.setdefault(name, {})[str(value)] = None
        words += [f"{flag} {name}={','.join(chosen)}" for name, chosen in values.items()]
    return " ".join(words)


def _report(path: Path | None, comparison: compare_study.Comparison) -> None:
    if path:
        from uncore.study import answer_pages  # noqa: PLC0415 (slow to load)

        answer_pages.write_comparison(path, comparison, command())
        note(f"report: {path}")


def _observe(
    results: Sequence[Result], threads: int, engine_options: EngineOptions
) -> list[Observed]:
    """Runs each result again and returns the observations; [] if one cannot be run again."""
    try:
        return [observe(result, threads, engine_options=engine_options) for result in results]
    except (UserError, GuestError) as error:
        note(f"how long each line was waited for is not compared: {error}")
        return []


def _is_result(word: str) -> bool:
    return word.endswith((".json", ".parquet"))


def _sides(words: Sequence[str], on_linux: OnLinux) -> list[tuple[str, Program]]:
    """Returns the two sides to compare, each as a machine and a program."""
    workloads = [word for word in words if is_workload(word)]
    machines = [word for word in words if not is_workload(word)]
    if sorted((len(machines), len(workloads))) != [1, 2]:
        raise UserError(
            f"compare needs a machine and two workloads, or two machines and a workload; it got"
            f" {len(machines)} and {len(workloads)}: uncore compare epyc7601x2 lock/ticket lock/mcs"
        )
    return [*product(machines, map(on_linux.program, workloads))]
