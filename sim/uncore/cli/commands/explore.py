"""The command `explore`: finds machines that are best compromises between speed and price."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from uncore.cli.options import CREW, Crew, Json, Plot, Report, Resume, command, note
from uncore.cli.status import INTERRUPTED, OK
from uncore.drawing.plot import picture
from uncore.drawing.progress import progress
from uncore.drawing.table import print_json
from uncore.execution.saved_points import Store
from uncore.job.option_values import check_outputs
from uncore.result import save
from uncore.study import answer_pages
from uncore.study.explore import explore as explore_designs
from uncore.study.explore import report as exploration_report
from uncore.study.explore.plan import ExplorationPlan


def explore(
    file: Annotated[Path, Parameter(help="exploration file: choices, runs and objectives (.toml)")],
    *,
    runs: Annotated[
        bool,
        Parameter(
            negative="",
            help="print the commands that repeat the runs of the best designs (the Pareto front)",
        ),
    ] = False,
    output: Annotated[
        Path | None, Parameter(help="save the results of the best designs (.json, .parquet)")
    ] = None,
    resume: Resume = False,
    crew: Crew = CREW,
    plot: Plot = None,
    report: Report = None,
    json: Json = False,
) -> int:
    check_outputs({"--output": output, "--plot": plot, "--report": report})
    plan = ExplorationPlan.read(file)
    with crew.at_work() as workers, progress(plan.designs, "exploring", "designs") as advance:
        exploration = explore_designs(plan, workers, store=Store(), resume=resume, done=advance)
    if json:
        print_json(exploration.to_rows())
    else:
        exploration_report.show(exploration, plot is not None)
    if runs and not json:
        exploration_report.print_runs(exploration)
    if output and exploration.front:
        save(exploration.results, output)
        note(f"result: {output}")
    if plot and exploration.front:
        note(f"picture: {picture(plot, *exploration_report.panels(exploration))}")
    if report and exploration.front:
        answer_pages.write_exploration(report, exploration, command())
        note(f"report: {report}")
    if exploration.interrupted:
        note("interrupted: the same command with --resume goes on from here")
        return INTERRUPTED
    return OK
