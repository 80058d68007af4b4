"""Real machines: measure, calibrate."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from uncore.commands import INTERRUPTED, OK, app, note


@app.command
def measure(
    *,
    output: Annotated[
        Path | None, Parameter(name=["--output", "-o"], help="save the measurement (.json)")
    ] = None,
    csv: Annotated[Path | None, Parameter(help="write the matrix of handoffs (.csv)")] = None,
    quick: Annotated[bool, Parameter(negative="", help="a tenth of the samples: orients")] = False,
    topology: Annotated[
        Path | None, Parameter(help="write a machine file of this computer (.toml)")
    ] = None,
    hwloc: Annotated[
        Path | None, Parameter(help="with --topology: of the computer of this lstopo XML instead")
    ] = None,
    force: Annotated[bool, Parameter(negative="", help="overwrite files")] = False,
) -> int:
    """What lines, atomics, spin locks, wake-ups and interrupts cost on this computer.

    With --topology alone nothing is measured.
    """
    from uncore.errors import UserError
    from uncore.measure import describe, sysfs
    from uncore.measure import hwloc as xml
    from uncore.words import check_endings, check_new, write_whole

    files = {"-o": output, "--csv": csv, "--topology": topology}
    if hwloc and not topology:
        raise UserError("--hwloc: describes a machine for --topology FILE, which is missing")
    if hwloc and (output or csv):
        raise UserError("--hwloc: the computer of a file cannot be measured; write --topology only")
    check_endings(files)
    check_new(files, force)
    if topology:
        write_whole(topology, describe.describe(xml.read(hwloc) if hwloc else sysfs.read()))
        note(f"machine file: {topology}")
        if not (output or csv):
            return OK
    return _measure(output, csv, quick)


def _measure(output: Path | None, csv: Path | None, quick: bool) -> int:
    from uncore.measure import plan, record, report, sysfs
    from uncore.measure.bench import Here, usable
    from uncore.measure.measure import measure
    from uncore.words import write_whole

    computer = sysfs.read(only=usable())
    found = measure(Here(), computer, sysfs.setting(), plan.QUICK if quick else plan.FULL)
    report.show(found)
    if output:
        record.save(found, output)
        note(f"measurement: {output}")
    if csv and found.handoffs:
        write_whole(csv, record.matrix_csv(found.handoffs))
        note(f"matrix: {csv}")
    return INTERRUPTED if found.partial else OK


@app.command
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
        Parameter(negative="", help="numbers to fit; none: those whose source says fitted"),
    ] = [],  # noqa: B006
    home: Annotated[str, Parameter(help="memory node of the measured line, if known")] = "",
    slices: Annotated[str, Parameter(help="slice that owned the line, if known, or hash")] = "",
    force: Annotated[bool, Parameter(negative="", help="overwrite the file")] = False,
) -> int:
    """Fits a machine file's free numbers to a measured matrix, and says which it cannot fit."""
    from uncore import topology
    from uncore.calibrate import fit, problem, report, write
    from uncore.report.progress import progress
    from uncore.words import check_endings, check_new, write_whole

    if output:
        check_endings({"--topology": output})
    check_new({"-o": output}, force)
    resolved = topology.load(machine)
    problem.check_keys(resolved, free)
    fit.check_choice(resolved, home, slices)
    asked = problem.Problem.of(machine, matrix, free)
    with progress(fit.turns(resolved, home, slices), "calibrating", "fits") as advance:
        fitted = fit.solve(asked, home, slices, advance)
    report.show(fitted)
    if output:
        write_whole(output, write.machine_file(fitted, matrix, output))
        note(f"machine file: {output}")
    return OK
