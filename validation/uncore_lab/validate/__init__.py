"""Compares simulated with measured results and checks bounds: the work of `uncore validate`.

    main(request, only=..., everything=..., renew=..., json=...) -> exit status
                                             0; 1 if a bound does not hold.  `report_to` is a file
                                             and the command line that writes it again

The files:

    section.py     input and output of every experiment
    handoff.py     core-to-core handoffs of a line, against measured matrices
    directory.py   reading a line that another core holds, by the home of the line
    score.py       errors and bounds of handoffs
    repeat.py      differences between pairs that repeat themselves, so that a model must show them
    contention.py  one contended line: throughput by number of threads
    interrupts.py  IPIs: a single one, a storm, a broadcast
    ktr.py         a user's DragonFly traces
    ipi_trace.py   a user's traces of Linux (`--trace`): the latency of each interrupt
    ipi_records.py the records of such a trace
    trace_text.py  the lines of any trace
    lock_curves.py throughput of n threads with one lock, against lockhammer's curves
    lockhammer.py  these curves
    hosts.py       the same for a host whose family was not measured
    families.py    tries values of the numbers that the machines of a family share
    joint.py       fits numbers to the matrices of several machines
    scaling.py     will-it-scale: throughput by number of tasks, against measured curves
    series.py      these curves
    booted.py      the same in a kernel that a user booted (the command willitscale)
    papers.py      figures of papers, commits and posts, half of them sealed
    prediction.py  predicts each machine from the others
    leave_out.py   scores of these predictions
    clocks.py      finds the clock that a number follows
    blind.py       predictions of the ledger, against later measurements
    bar.py         bounds that must hold now, and goals
    curves.py      pictures of curves
    summary.py     the bars of all experiments, and the figures that have changed
    report.py      writes an HTML page
    intervals.py   how often intervals of `--within` hold; a separate command

A new experiment is a module with `run` and a line in EXPERIMENTS.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from uncore.drawing.table import emit, print_json, say
from uncore.errors import UserError, suggestion
from uncore_lab.results.table import load, save
from uncore_lab.validate import (
    blind,
    clocks,
    contention,
    directory,
    handoff,
    hosts,
    interrupts,
    ipi_trace,
    papers,
    prediction,
    report,
    scaling,
    summary,
)
from uncore_lab.validate import lock_curves as locks
from uncore_lab.validate.section import TRACE_ALONE, Experiment, NoFigures, Request, Section

EXPERIMENTS: dict[str, Experiment] = {
    "handoff": handoff.run,
    "contention": contention.run,
    "locks": locks.run,
    "hosts": hosts.run,
    "directory": directory.run,
    "scaling": scaling.run,
    "interrupts": interrupts.run,
    "bench": papers.run,
    "prediction": prediction.run,
    "clocks": clocks.run,
    "blind": blind.run,
}
DEFAULT = "handoff"


def main(
    request: Request,
    *,
    only: str = "",
    everything: bool = False,
    renew: bool = False,
    report_to: tuple[Path, str] | None = None,
    json: bool = False,
) -> int:
    names = _chosen_experiments(only, everything)
    if request.trace and (only or everything or renew):
        raise UserError(TRACE_ALONE)
    if renew and (request.machines or request.matrix):
        raise UserError("--renew: a file of results holds every machine; leave the names out")
    sections = [ipi_trace.run(request)] if request.trace else _sections(names, request)
    if renew:
        _save(sections)
        if not request.matrices:  # bars apply to the shipped figures only
            _save_bars(sections)
    if json:
        print_json({section.name: section.rows for section in sections})
    elif everything and not request.machines:
        summary.show(sections)
    else:
        for section in sections:
            show(section)
    if report_to:
        report.write(report_to[0], sections, report_to[1])
    exceeded = [message for section in sections for message in section.exceeded]
    for message in exceeded:
        print(f"uncore: past its bound: {message}", file=sys.stderr)
    return 1 if exceeded else 0


def _chosen_experiments(only: str, everything: bool) -> Sequence[str]:
    if only and everything:
        raise UserError(f"--only {only}: --all runs every experiment; write one or the other")
    if only and only not in EXPERIMENTS:
        raise UserError(
            f"--only {only}: no such experiment; expected one of {', '.join(EXPERIMENTS)}"
            f"{suggestion(only, EXPERIMENTS)}"
        )
    return list(EXPERIMENTS) if everything else [only or DEFAULT]


def _sections(names: Sequence[str], request: Request) -> list[Section]:
    """Runs the named experiments, without those that have no figures of the given machines."""
    sections, lacking = [], []
    for name in names:
        try:
            sections.append(EXPERIMENTS[name](request))
        except NoFigures as error:
            lacking.append(error)
    if not sections:
        raise lacking[0]
    return sections


def _save(sections: Sequence[Section]) -> None:
    for section in sections:
        for table in section.tables:
            save(table)


def _save_bars(sections: Sequence[Section]) -> None:
    """Replaces the rows of these experiments in bars.csv, which holds the bounds of all
    experiments; the rows of the others stay.
    """
    renewed = {section.name for section in sections}
    bars = summary.bars(sections)
    rows = [row for row in load(bars.name) if row["experiment"] not in renewed] + [*bars.rows]
    rows = [row for name in EXPERIMENTS for row in rows if row["experiment"] == name]
    save(replace(bars, rows=rows))


def show(section: Section) -> None:
    """Prints a section."""
    emit(section.rows, False, section.columns, section.title)
    for line in section.lines:
        say(line)
