"""Simulated against measured: what `uncore validate` prints, and whether the bounds hold.

    main(request, only=..., everything=..., page=..., json=...) -> 0, or 1 past a bound
                                             `report`: a file, and the words that write it again

The files:

    section.py     what every experiment is asked and answers
    handoff.py     core to core: a line handed over, against measured matrices
    directory.py   reading a line that another core holds, by the place of its home
    score.py       errors and bounds of handoffs
    repeat.py      which differences between pairs repeat themselves, so that a model must show them
    contention.py  one contended line: throughput over threads
    interrupts.py  IPIs: one, a storm of them, a broadcast;  ktr.py  a user's DragonFly traces
    locks.py       what n threads get from one lock, against lockhammer's curves (lockhammer.py)
    scaling.py     will-it-scale: throughput over tasks, against measured curves (series.py)
    booted.py      the same of a kernel that a user booted (the command willitscale)
    prediction.py  each machine from the others;  clocks.py  which clock a number follows;
    blind.py       predicted blind, then measured: the ledger
    bar.py         bounds that hold today, beside their goals
    page.py        docs/validation.md

A new experiment is a module with `run` and a line in EXPERIMENTS.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from uncore.drawing.table import emit, print_json, say
from uncore.errors import UserError, nearest
from uncore_lab.validate import (
    blind,
    clocks,
    contention,
    directory,
    handoff,
    interrupts,
    locks,
    page,
    prediction,
    scaling,
)
from uncore_lab.validate.section import Experiment, Lacking, Request, Section

EXPERIMENTS: dict[str, Experiment] = {
    "handoff": handoff.run,
    "contention": contention.run,
    "locks": locks.run,
    "directory": directory.run,
    "scaling": scaling.run,
    "interrupts": interrupts.run,
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
    page_path: Path | None = None,
    report: tuple[Path, str] | None = None,
    json: bool = False,
) -> int:
    names = _chosen(only, everything)
    if page_path and request.machines:
        raise UserError(f"--page {page_path}: a page holds every machine; leave the names out")
    if page_path and not page_path.parent.is_dir():
        raise UserError(f"--page {page_path}: no such directory: {page_path.parent}")
    sections = _sections(names, request)
    if json:
        print_json({section.name: section.rows for section in sections})
    for section in () if json else sections:
        show(section)
    if page_path:
        page.write(page_path, sections)
    if report:
        page.report(report[0], sections, report[1])
    past = [message for section in sections for message in section.broken]
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
    """Of several experiments, those that have figures of the machines named."""
    found, lacking = [], []
    for name in names:
        try:
            found.append(EXPERIMENTS[name](request))
        except Lacking as error:
            lacking.append(error)
    if not found:
        raise lacking[0]
    return found


def show(section: Section) -> None:
    """As people read it."""
    emit(section.rows, False, section.columns, section.title)
    for note in section.notes:
        say(note)
