"""The command `uncore predict`, which predicts machines that nobody measured and records
predictions.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from uncore import topology
from uncore.cli.options import Json
from uncore.cli.status import OK
from uncore.errors import UserError
from uncore.job.option_values import check_outputs
from uncore.job.placement import thread_counts
from uncore.support.output_kinds import MACHINE
from uncore_lab import predict as predicting
from uncore_lab.figures import hardware
from uncore_lab.predict import observe as observing
from uncore_lab.predict.ledger import record as recording


def predict(
    *machines: Annotated[str, Parameter(help="one machine; after --observe and --record, any")],
    home: Annotated[str, Parameter(help="where the line is homed: node0, node1, ..., pair")] = "",
    observe: Annotated[
        bool, Parameter(negative="", help="renew the numbers of measured machines instead")
    ] = False,
    record: Annotated[
        bool,
        Parameter(negative="", help="put predictions on record; without machines, today's anew"),
    ] = False,
    reason: Annotated[
        str, Parameter(help="with --record: why a machine on record is predicted anew")
    ] = "",
    threads: Annotated[
        str, Parameter(help="with --record: foretell contended atomics and locks there, too")
    ] = "",
    output: Annotated[
        Path | None, Parameter(help="write the machine with these numbers and intervals (.toml)")
    ] = None,
    json: Json = False,
) -> int:
    check_outputs({"--output": output}, {"--output": MACHINE})
    if observe and record:
        raise UserError("--observe, --record: write one, then the other: what is observed predicts")
    if reason and not record:
        raise UserError("--reason: says why a prediction is sealed anew; write --record with it")
    if threads and not record:
        raise UserError("--threads: curves are foretold on record only; write --record with it")
    if observe:
        observing.write(machines or hardware.well_measured())
        return OK
    if record:
        recording.record(machines, reason, _counts(threads, machines))
        return OK
    if len(machines) != 1:
        raise UserError("uncore predict expects one machine, such as uncore predict epyc7742x2")
    return predicting.main(machines[0], home, json=json, output=output)


def _counts(threads: str, machines: tuple[str, ...]) -> tuple[int, ...]:
    if not threads:
        return ()
    return thread_counts(threads, min(topology.load(name).harts for name in machines))
