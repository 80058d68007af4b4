"""The command `matrix`: latency of a line or an interrupt between any two harts."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from uncore.cli.options import (
    CREW,
    ENGINE_WORDS,
    MACHINE_WORDS,
    MEASURED,
    Crew,
    EngineWords,
    Json,
    Machine,
    MachineWords,
    Measured,
    Plot,
    Resume,
    note,
)
from uncore.cli.status import FAILED, INTERRUPTED, OK
from uncore.drawing.plot import picture
from uncore.errors import GuestError, UserError
from uncore.execution.saved_points import Store
from uncore.job.option_values import check_outputs
from uncore.study import matrix as measurement

Sample = Annotated[
    str,
    Parameter(
        help="measure only this many harts, drawn so that every distance occurs; 40:1 is another"
        " draw than 40"
    ),
]


def matrix(
    machine: Machine,
    *,
    ipi: Annotated[
        bool, Parameter(negative="", help="measure interrupts instead of a cache line")
    ] = False,
    sample: Sample = "",
    as_measured: Annotated[
        bool,
        Parameter(
            negative="", help="place the line where it was in the measurement of the real machine"
        ),
    ] = False,
    machine_words: MachineWords = MACHINE_WORDS,
    chance: Measured = MEASURED,
    engine_words: EngineWords = ENGINE_WORDS,
    csv: Annotated[Path | None, Parameter(help="write the matrix in ns (.csv)")] = None,
    plot: Plot = None,
    resume: Resume = False,
    crew: Crew = CREW,
    json: Json = False,
) -> int:
    check_outputs({"--csv": csv, "--plot": plot})
    _refuse_placed_line(machine_words, as_measured)
    with crew.at_work() as workers:
        measured = measurement.measure(
            machine,
            ipi=ipi,
            only=_parse_sample(sample) if sample else None,
            as_measured=as_measured,
            engine_options=engine_words.engine_options(),
            store=Store(),
            resume=resume,
            workers=workers,
            seeds=partial(chance.seeds, machine_words.engine),
            slow=machine_words.slow,
            **machine_words.values(),
        )
    measurement.show(measured, json)
    _write(measured, csv, plot, bool(sample))
    return _status(measured)


def _write(
    measured: measurement.Matrix, csv: Path | None, plot: Path | None, sampled: bool
) -> None:
    if csv:
        measurement.write_csv(measured, csv)
        hart_list = f", of harts {' '.join(map(str, measured.harts))}" if sampled else ""
        note(f"matrix: {csv}{hart_list}")
    if plot:
        note(f"picture: {picture(plot, measurement.panel(measured))}")


def _refuse_placed_line(machine_words: MachineWords, as_measured: bool) -> None:
    usual = vars(MACHINE_WORDS)
    for name in ("home", "slices"):
        if as_measured and vars(machine_words)[name] != usual[name]:
            raise UserError(f"--as-measured says where the line is; leave out --{name}")


def _status(measured: measurement.Matrix) -> int:
    """Returns the exit status, with a note if the measurement was stopped early."""
    if not measured.stopped:
        return FAILED if measured.failed else OK
    harts = len(measured.harts)
    pairs = f"{measurement.measured_pairs(measured.ns)} of {harts * (harts - 1)} pairs measured"
    if isinstance(measured.stopped, GuestError):
        note(f"uncore: {measured.stopped}; {pairs}")
        return FAILED
    note(f"uncore: interrupted, {pairs}")
    return INTERRUPTED


def _parse_sample(text: str) -> measurement.Sample:
    """Parses a number of harts such as `40`, or with the number of the draw, `40:1`."""
    match = re.fullmatch(r"([1-9]\d{0,8})(?::(\d{1,9}))?", text)
    if not match or match[1] == "1":
        raise UserError(
            f"--sample {text}: expected two harts or more, such as 40; 40:1 is another draw of them"
        )
    return int(match[1]), int(match[2] or 0)
