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
    *machines: Annotated[
        str, Parameter(help="a machine; with --observe or --record, any number of them")
    ],
    home: Annotated[str, Parameter(help="home of the line: node0, node1, ..., or pair")] = "",
    observe: Annotated[
        bool,
        Parameter(
            negative="", help="fit the numbers of measured machines again, instead of predicting"
        ),
    ] = False,
    record: Annotated[
        bool,
        Parameter(
            negative="", help="put predictions on record; without machines, make today's again"
        ),
    ] = False,
    reason: Annotated[
        str, Parameter(help="with --record: the reason for a second prediction of a machine")
    ] = "",
    threads: Annotated[
        str,
        Parameter(
            help="with --record: thread counts at which contended atomics and locks are"
            " predicted, too"
        ),
    ] = "",
    output: Annotated[
        Path | None,
        Parameter(
            help="write a machine file with the predicted numbers and their intervals (.toml)"
        ),
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
