"""This computer: measure."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import msgspec
from cyclopts import Parameter

from uncore.cli.options import note
from uncore.cli.status import INTERRUPTED, OK
from uncore.errors import UserError
from uncore.host import pinned, sysfs
from uncore.job.option_values import check_outputs
from uncore.job.placement import thread_counts
from uncore.support.output_files import write_whole
from uncore_lab.measure import hwloc as lstopo
from uncore_lab.measure import machine_file as describe
from uncore_lab.measure import plan, record, report
from uncore_lab.measure.bench import ThisComputer, usable
from uncore_lab.measure.measure import measure as measured


def measure(
    *,
    output: Annotated[
        Path | None, Parameter(name=["--output", "-o"], help="save the measurement (.json)")
    ] = None,
    csv: Annotated[Path | None, Parameter(help="write the matrix of handoffs (.csv)")] = None,
    quick: Annotated[
        bool, Parameter(negative="", help="take a tenth of the samples, for a first impression")
    ] = False,
    threads: Annotated[
        str,
        Parameter(
            help="thread counts of atomics and locks, such as 1,2,3, or 1..max, which doubles"
        ),
    ] = "",
    topology: Annotated[
        Path | None, Parameter(help="write a machine file of this computer (.toml)")
    ] = None,
    hwloc: Annotated[
        Path | None,
        Parameter(
            help="with --topology: describe the computer of this lstopo XML instead of this one"
        ),
    ] = None,
) -> int:
    files = {"-o": output, "--csv": csv, "--topology": topology}
    if hwloc and not topology:
        raise UserError("--hwloc: describes a machine for --topology FILE, which is missing")
    if hwloc and (output or csv):
        raise UserError("--hwloc: the computer of a file cannot be measured; write --topology only")
    check_outputs(files)
    if topology:
        write_whole(topology, describe.describe(lstopo.read(hwloc) if hwloc else sysfs.read()))
        note(f"machine file: {topology}")
        if not (output or csv):
            return OK
    return _measure(output, csv, plan.QUICK_EFFORT if quick else plan.FULL_EFFORT, threads)


def _measure(output: Path | None, csv: Path | None, effort: plan.Effort, threads: str) -> int:
    computer = sysfs.read(only=usable())
    if threads:
        counts = thread_counts(threads, len(computer.cpus))
        pinned.room_for(counts)
        effort = msgspec.structs.replace(effort, threads=counts)
    measurement = measured(ThisComputer(), computer, sysfs.setting(), effort)
    report.show(measurement)
    if output:
        record.save(measurement, output)
        note(f"measurement: {output}")
    if csv and measurement.handoffs:
        write_whole(csv, record.matrix_csv(measurement.handoffs))
        note(f"matrix: {csv}")
    return INTERRUPTED if measurement.partial else OK
