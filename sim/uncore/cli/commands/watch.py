"""A run to step through, as a page: watch."""

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
from uncore.cli.options.window import LOOKED, Looked
from uncore.cli.status import OK
from uncore.errors import UserError
from uncore.job.option_values import check_endings
from uncore.trace import MEASURED, record, stepper

MOST = 60_000  # messages of a page


def watch(
    machine: str,
    workload: Annotated[str, Parameter(help="a name, a .c or an .elf file")],
    *,
    threads: Annotated[int, Parameter(validator=validators.Number(gte=1), help="how many")] = 1,
    output: Annotated[Path, Parameter(help="the page (.html)")],
    looked: Looked = LOOKED,
    job_words: JobWords = JOB_WORDS,
    chance: Drawn = DRAWN,
    engine_words: EngineWords = ENGINE_WORDS,
) -> int:
    check_endings({"--output": output}, {"--output": (".html",)})
    job = job_words.job(machine, workload, (threads,), chance)
    window = looked.wanted(threads)
    if not (looked.window or looked.around):
        window = replace(window, around=MEASURED)
    traced = record(next(job.points()), window, engine_words.engine_options())
    if (many := len(traced.tables["messages"])) > MOST:
        raise UserError(
            f"{many} messages are too many for a page, which holds {MOST}: write --set ops=5,"
            " --line NAME, --window 10us..20us or --around slowest"
        )
    stepper.write(output, traced, command())
    note(f"page: {output}, {many} messages, {output.stat().st_size / 1e6:.1f} MB")
    return OK
