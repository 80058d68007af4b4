"""What nobody measured: predict."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from uncore.commands import Json, app


@app.command
def predict(
    *machines: Annotated[str, Parameter(help="one machine; after --observe, any number")],
    home: Annotated[str, Parameter(help="where the line is homed: node0, node1, ..., pair")] = "",
    observe: Annotated[
        bool, Parameter(negative="", help="renew the numbers of measured machines instead")
    ] = False,
    json: Json = False,
) -> int:
    """Handoffs of a machine that nobody measured, with intervals, from its relatives' numbers."""
    from uncore import predict
    from uncore.errors import UserError

    if observe:
        return predict.renew(machines)
    if len(machines) != 1:
        raise UserError("uncore predict expects one machine, such as uncore predict epyc7742x2")
    return predict.main(machines[0], home, json=json)
