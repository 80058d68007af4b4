"""Which machine is best for some workloads, and at what price: explore."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from uncore.commands.options import CREW, Crew, Json, Plot, Report, Resume, command, note
from uncore.commands.status import INTERRUPTED, OK
from uncore.exploration import explore as look
from uncore.exploration.plan import Plan
from uncore.report import document
from uncore.report import explore as shown
from uncore.report.plot import picture
from uncore.report.progress import progress
from uncore.report.table import print_json
from uncore.result import save
from uncore.store import Store
from uncore.words import check_endings


def explore(
    file: Annotated[Path, Parameter(help="what is varied, run and wanted (.toml)")],
    *,
    runs: Annotated[
        bool, Parameter(negative="", help="the commands that repeat the runs behind the front")
    ] = False,
    output: Annotated[
        Path | None, Parameter(help="save the runs behind the front (.json, .parquet)")
    ] = None,
    resume: Resume = False,
    crew: Crew = CREW,
    plot: Plot = None,
    report: Report = None,
    json: Json = False,
) -> int:
    check_endings({"--output": output, "--plot": plot, "--report": report})
    plan = Plan.read(file)
    with crew.at_work() as workers, progress(plan.designs, "exploring", "designs") as more:
        found = look(plan, workers, store=Store(), resume=resume, done=more)
    if json:
        print_json(found.to_rows())
    else:
        shown.show(found)
    if runs and not json:
        shown.runs(found)
    if output and found.front:
        save(found.results, output)
        note(f"result: {output}")
    if plot and found.front:
        note(f"picture: {picture(plot, *shown.panels(found))}")
    if report and found.front:
        document.of_exploration(report, found, command())
        note(f"report: {report}")
    if found.interrupted:
        note("interrupted: the same command with --resume goes on from here")
        return INTERRUPTED
    return OK
