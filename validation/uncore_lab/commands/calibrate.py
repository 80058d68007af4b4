"""The command `uncore calibrate`, which fits a machine file to a user's measurement."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from uncore import topology
from uncore.cli.options import note
from uncore.cli.status import FAILED, OK
from uncore.drawing.progress import progress
from uncore.job.option_values import check_outputs
from uncore.support.output_files import write_whole
from uncore.support.output_kinds import MACHINE
from uncore_lab.calibrate import determined, fit, problem, report, write
from uncore_lab.figures.hardware import numbered


def calibrate(
    machine: str,
    *,
    matrix: Annotated[
        Path, Parameter(help="measured handoffs, as `uncore measure --csv` writes them")
    ],
    output: Annotated[
        Path | None, Parameter(name=["--output", "-o"], help="write the machine file (.toml)")
    ] = None,
    free: Annotated[
        list[str],
        Parameter(negative="", help="numbers to fit; default: those whose source says fitted"),
    ] = [],  # noqa: B006
    home: Annotated[str, Parameter(help="memory node of the measured line, if known")] = "",
    slices: Annotated[str, Parameter(help="slice that owned the line, if known, or hash")] = "",
    doubtful: Annotated[
        bool, Parameter(negative="", help="also write numbers that no machine of the family has")
    ] = False,
) -> int:
    check_outputs({"--output": output}, {"--output": MACHINE})
    resolved = topology.load(machine)
    problem.check_keys(resolved, free)
    fit.check_choice(resolved, home, slices)
    fit_problem = problem.Problem.load(machine, matrix, free)
    if order := numbered(matrix, resolved):
        note(order)
    with progress(fit.max_advances(resolved, home, slices), "calibrating", "fits") as advance:
        fitted = fit.solve(fit_problem, home, slices, advance)
    report.show(fitted)
    if determined.doubtful(fitted) and output and not doubtful:
        note(f"{output} is not written: see above; --doubtful writes it all the same")
        return FAILED
    if output:
        write_whole(output, write.machine_file(fitted, matrix, output))
        note(f"machine file: {output}")
    return OK
