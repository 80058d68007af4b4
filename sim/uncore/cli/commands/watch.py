"""The command `watch`: makes a page to step through one run, or through two runs side by side."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter, validators

from uncore.cli.options import (
    DRAWN,
    ENGINE_WORDS,
    JOB_WORDS,
    Drawn,
    EngineWords,
    JobWords,
    command,
    note,
)
from uncore.cli.options.window import WHOLE_RUN, TraceWindow
from uncore.cli.status import OK
from uncore.errors import UserError
from uncore.job.option_values import check_outputs, machines_and_workloads
from uncore.support.output_kinds import PAGE
from uncore.trace import MEASURED, record, stepper

MAX_PAGE_MESSAGES = 60_000


def watch(
    *words: Annotated[
        str,
        Parameter(
            help="a machine and a workload; for two runs two machines, two workloads, or --with"
            " or --set KEY=A,B"
        ),
    ],
    threads: Annotated[
        int, Parameter(validator=validators.Number(gte=1), help="number of threads")
    ] = 1,
    output: Annotated[Path, Parameter(help="page to write (.html)")],
    traced_part: TraceWindow = WHOLE_RUN,
    job_words: JobWords = JOB_WORDS,
    chance: Drawn = DRAWN,
    engine_words: EngineWords = ENGINE_WORDS,
) -> int:
    check_outputs({"--output": output}, {"--output": PAGE})
    jobs = job_words.jobs(*machines_and_workloads("watch", words), str(threads), chance)
    if len(jobs) > 2:
        raise UserError(
            f"watch shows one run or two, and these words are {len(jobs)}; two are: uncore watch"
            " ccx:2x4 lock/ticket lock/mcs, or uncore watch bus:4 lock/ticket --with"
            " protocol=mesi,moesi"
        )
    window = traced_part.wanted(threads)
    if not (traced_part.window or traced_part.around):
        window = replace(window, around=MEASURED)
    engine_options = engine_words.engine_options()
    traces = [record(next(job.points()), window, engine_options) for job in jobs]
    if (
        message_count := sum(len(trace.tables["messages"]) for trace in traces)
    ) > MAX_PAGE_MESSAGES:
        raise UserError(
            f"{message_count} messages are too many for a page, which holds {MAX_PAGE_MESSAGES}:"
            " write --set ops=5,"
            " --line NAME, --window 10us..20us or --around slowest"
        )
    stepper.write(output, traces, command())
    note(f"page: {output}, {message_count} messages, {output.stat().st_size / 1e6:.1f} MB")
    return OK
