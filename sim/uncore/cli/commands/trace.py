"""The command `trace`: records a run event by event."""

from __future__ import annotations

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
    Json,
    Machine,
    Workload,
    note,
)
from uncore.cli.options.window import WHOLE_RUN, TraceWindow
from uncore.cli.status import OK
from uncore.job.option_values import check_outputs
from uncore.report import traced
from uncore.support.output_kinds import TRACE
from uncore.trace import record, save


def trace(
    machine: Machine,
    workload: Workload,
    *,
    threads: Annotated[
        int, Parameter(validator=validators.Number(gte=1), help="number of threads")
    ] = 1,
    output: Annotated[
        Path,
        Parameter(
            help="file to write: a table of events (.parquet) or a trace for Perfetto (.pftrace)"
        ),
    ],
    traced_part: TraceWindow = WHOLE_RUN,
    job_words: JobWords = JOB_WORDS,
    chance: Drawn = DRAWN,
    engine_words: EngineWords = ENGINE_WORDS,
    json: Json = False,
) -> int:
    check_outputs({"--output": output}, {"--output": TRACE})
    job = job_words.job(machine, workload, (threads,), chance)
    events = record(next(job.points()), traced_part.wanted(threads), engine_words.engine_options())
    save(events, output)
    traced.show(events, json)
    note(f"trace: {output}, {output.stat().st_size / 1e6:.1f} MB")
    return OK
