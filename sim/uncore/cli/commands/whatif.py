"""The command `whatif`: measures the gain by each change of the program or of the machine."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter, validators

from uncore.cli.options import (
    CREW,
    ENGINE_WORDS,
    ESTIMATED,
    JOB_WORDS,
    Crew,
    Csv,
    EngineWords,
    Estimate,
    JobWords,
    Json,
    Machine,
    Plot,
    Report,
    Workload,
    command,
    note,
)
from uncore.cli.options.of_linux import ON_LINUX, OnLinux
from uncore.cli.status import OK
from uncore.drawing.plot import picture
from uncore.drawing.table import print_json
from uncore.job.option_values import check_outputs
from uncore.study import whatif_report as whatif_report
from uncore.study.whatif import Kind
from uncore.study.whatif import whatif as measure_changes


def whatif(
    machine: Machine,
    workload: Workload,
    *,
    threads: Annotated[
        int, Parameter(validator=validators.Number(gte=1), help="number of threads")
    ],
    only: Annotated[
        list[Kind], Parameter(negative="", help="try only changes of this kind; repeatable")
    ] = [],  # noqa: B006
    top: Annotated[
        int, Parameter(validator=validators.Number(gte=4), help="number of rows to print")
    ] = 16,
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
    program = on_linux.program(workload)
    job = on_linux.of_job(job_words.job(machine, program, (threads,), chance))
    with crew.at_work() as workers:
        built = on_linux.built()
        effects = measure_changes(
            machine, workload, job, workers, only, engine_words.engine_options(), built
        )
    if csv:
        effects.write_csv(csv)
    if json:
        print_json(effects.to_rows())
    else:
        whatif_report.show(effects, top)
    if csv:
        note(f"table: {csv}")
    if plot:
        note(f"picture: {picture(plot, whatif_report.panel(effects))}")
    if report:
        from uncore.study import answer_pages  # noqa: PLC0415 (slow to load)

        answer_pages.write_whatif(report, effects, command())
        note(f"report: {report}")
    return OK
