"""What a line or an interrupt costs between any two harts: matrix."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from uncore import matrix as measurement
from uncore.commands.options import CHOICES, Choices, Json, Plot, With, note
from uncore.commands.status import FAILED, OK
from uncore.report.plot import picture
from uncore.words import check_endings, pairs


def matrix(
    machine: str,
    *,
    ipi: Annotated[bool, Parameter(negative="", help="interrupts instead of a line")] = False,
    with_: With = [],  # noqa: B006
    choices: Choices = CHOICES,
    csv: Annotated[Path | None, Parameter(help="write the matrix, in ns")] = None,
    plot: Plot = None,
    json: Json = False,
) -> int:
    check_endings({"--csv": csv, "--plot": plot})
    measured = measurement.measure(
        machine,
        ipi=ipi,
        overrides=pairs("--with", with_),
        told=choices.told(),
        **choices.policies(),
    )
    measurement.show(measured, json)
    if csv:
        measurement.write_csv(measured, csv)
        note(f"matrix: {csv}")
    if plot:
        note(f"picture: {picture(plot, measurement.panel(measured))}")
    return FAILED if measured.result.failed else OK
