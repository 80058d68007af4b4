"""The commands that compare simulated with measured: validate, ktr, willitscale."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter, validators

from uncore.cli.options import Cores, Json, Plot, Report, With, command, note, workers
from uncore.cli.status import OK
from uncore.drawing.plot import picture
from uncore.drawing.table import emit
from uncore.job.option_values import check_outputs, pairs
from uncore_lab import validate as validation
from uncore_lab.validate import booted
from uncore_lab.validate import ktr as traces
from uncore_lab.validate.section import Request


def validate(
    *machines: str,
    all_: Annotated[
        bool, Parameter(name="--all", negative="", help="run every experiment, not only handoffs")
    ] = False,
    only: Annotated[str, Parameter(help="run only the experiment of this name")] = "",
    matrices: Annotated[
        Path | None, Parameter(help="folder of measured matrices, MACHINE.csv")
    ] = None,
    matrix: Annotated[
        Path | None, Parameter(help="your own measured matrix, of the one machine named")
    ] = None,
    home: Annotated[
        str, Parameter(help="with --matrix: home of the measured line (node0, node1, ..., or pair)")
    ] = "",
    trace: Annotated[
        Path | None,
        Parameter(
            help="trace of interrupts of the one machine named, as perf script or ftrace prints it"
        ),
    ] = None,
    every: Annotated[
        bool,
        Parameter(
            negative="", help="with --only locks: simulate every thread count that was measured"
        ),
    ] = False,
    renew: Annotated[
        bool, Parameter(negative="", help="write the figures into validation/results")
    ] = False,
    report: Report = None,
    cores: Cores = 0,
    json: Json = False,
) -> int:
    check_outputs({"--report": report})
    request = Request(
        machines,
        matrices,
        matrix,
        home,
        trace,
        workers(cores),
        pictures=bool(report),
        every=every,
    )
    sent = (report, command()) if report else None
    status = validation.main(
        request, only=only, everything=all_, renew=renew, report_to=sent, json=json
    )
    if report:
        note(f"report: {report}")
    return int(status)


def ktr(
    trace: Annotated[Path, Parameter(help="a trace as ktrdump prints it")],
    machine: Annotated[str, Parameter(help="machine to compare the trace with")] = "athlonx2-3800",
    *,
    record: Annotated[
        float, Parameter(validator=validators.Number(gte=0), help="ns that writing a record costs")
    ] = 0.0,
    with_: With = [],  # noqa: B006
    json: Json = False,
) -> int:
    records = traces.read(trace)
    rows = traces.compare(records, machine, dict(pairs("--with", with_)), record)
    emit(rows, json, traces.COLUMNS, f"{trace.name} beside {machine}: intervals between records")
    return OK


def willitscale(
    machine: Annotated[str, Parameter(help="the booted machine, which was also measured")],
    *consoles: Annotated[Path, Parameter(help="files with the output of uncore boot")],
    plot: Plot = None,
    json: Json = False,
) -> int:
    check_outputs({"--plot": plot})
    curves = booted.compare(machine, booted.read(consoles))
    title = f"will-it-scale on {machine}: each curve over its one task, ours and measured"
    emit([booted.row(curve) for curve in curves], json, booted.COLUMNS, title)
    if (steps := booted.steps(curves)) and not json:
        note(f"contended, median ratio from one number of tasks to the next (measured): {steps}")
    if plot:
        note(f"picture: {picture(plot, *booted.panels(machine, curves))}")
    return OK
