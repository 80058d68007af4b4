"""Simulated against measured: what `uncore validate` prints, and whether the bounds hold.

    main(request, only=..., everything=..., renew=..., json=...) -> 0, or 1 past a bound
                                             `report`: a file, and the words that write it again

The files:

    section.py     what every experiment is asked and answers
    handoff.py     core to core: a line handed over, against measured matrices
    directory.py   reading a line that another core holds, by the place of its home
    score.py       errors and bounds of handoffs
    repeat.py      which differences between pairs repeat themselves, so that a model must show them
    contention.py  one contended line: throughput over threads
    interrupts.py  IPIs: one, a storm of them, a broadcast;  ktr.py  a user's DragonFly traces
    ipi_trace.py   a user's traces of Linux (`--trace`): each interrupt, from send to entry
    ipi_records.py the records of such a trace;  trace_text.py  lines of any trace
    lock_curves.py what n threads get from one lock, against lockhammer's curves (lockhammer.py)
    hosts.py       the same of a host that nobody measured, by the numbers of other families
    families.py    what a family's machines share, tried;  joint.py  numbers fitted to matrices
    scaling.py     will-it-scale: throughput over tasks, against measured curves (series.py)
    booted.py      the same of a kernel that a user booted (the command willitscale)
    papers.py      what papers, commits and posts published, half of it sealed
    prediction.py  each machine from the others;  clocks.py  which clock a number follows;
    blind.py       predicted blind, then measured: the ledger
    bar.py         bounds that hold today, beside their goals
    summary.py     every experiment's bars, and which figures moved
    report.py      one HTML page to send
    intervals.py   how often intervals of `--within` hold; a command of its own

A new experiment is a module with `run` and a line in EXPERIMENTS.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from uncore.drawing.table import emit, print_json, say
from uncore.errors import UserError, nearest
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
    names = _chosen(only, everything)
    if request.trace and (only or everything or renew):
        raise UserError(TRACE_ALONE)
    if renew and (request.machines or request.matrix):
        raise UserError("--renew: a file of results holds every machine; leave the names out")
    sections = [ipi_trace.run(request)] if request.trace else _sections(names, request)
    if renew:
        _save(sections)
        if not request.matrices:  # bars are for the figures that the project carries
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
    past = [message for section in sections for message in section.past]
    for message in past:
        print(f"uncore: past its bound: {message}", file=sys.stderr)
    return 1 if past else 0


def _chosen(only: str, everything: bool) -> Sequence[str]:
    if only and everything:
        raise UserError(f"--only {only}: --all runs every experiment; write one or the other")
    if only and only not in EXPERIMENTS:
        raise UserError(
            f"--only {only}: no such experiment; expected one of {', '.join(EXPERIMENTS)}"
            f"{nearest(only, EXPERIMENTS)}"
        )
    return list(EXPERIMENTS) if everything else [only or DEFAULT]


def _sections(names: Sequence[str], request: Request) -> list[Section]:
    """Returns the answers of the experiments that have figures of the machines named."""
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
    """Renews the rows of these experiments in the one file of all bars."""
    renewed = {section.name for section in sections}
    bars = summary.bars(sections)
    rows = [row for row in load(bars.name) if row["experiment"] not in renewed] + [*bars.rows]
    rows = [row for name in EXPERIMENTS for row in rows if row["experiment"] == name]
    save(replace(bars, rows=rows))


def show(section: Section) -> None:
    """Formats the sections as text."""
    emit(section.rows, False, section.columns, section.title)
    for line in section.lines:
        say(line)
