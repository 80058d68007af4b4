"""What a change of the program or of the machine would be worth: whatif."""

from __future__ import annotations

from dataclasses import fields
from typing import Annotated, Literal

from cyclopts import Parameter, validators

from uncore.commands.options import (
    REPEATED,
    Cluster,
    Cores,
    Json,
    Plot,
    Repeated,
    Report,
    Set,
    With,
    at_work,
    command,
    note,
)
from uncore.commands.status import OK
from uncore.counterfactual import whatif as look
from uncore.report import whatif as shown
from uncore.report.plot import picture
from uncore.report.table import print_json
from uncore.words import check_endings

RENAMED = {"placement": "place"}
Kind = Literal["line", "layout", "number", "home", "atomics"]


def whatif(
    machine: str,
    workload: Annotated[str, Parameter(help="a name, a .c or an .elf file")],
    *,
    threads: Annotated[int, Parameter(validator=validators.Number(gte=1), help="how many")],
    only: Annotated[list[Kind], Parameter(negative="", help="changes of these kinds only")] = [],  # noqa: B006
    top: Annotated[int, Parameter(validator=validators.Number(gte=4), help="rows shown")] = 16,
    set_: Set = [],  # noqa: B006
    with_: With = [],  # noqa: B006
    choices: Repeated = REPEATED,
    cores: Cores = 0,
    cluster: Cluster = "",
    plot: Plot = None,
    report: Report = None,
    json: Json = False,
) -> int:
    check_endings({"--plot": plot, "--report": report})
    job = choices.job(machine, workload, (threads,), set_, with_)
    words = ["uncore", "run", machine, workload, "--threads", str(threads)]
    words += [word for value in set_ for word in ("--set", value)]
    words += [word for value in with_ for word in ("--with", value)]
    again = [*words, *_said(choices)]
    with at_work(cores, cluster) as workers:
        found = look(machine, job, again, workers, only, choices.told())
    if json:
        print_json(found.to_rows())
    else:
        shown.show(found, top)
    if plot:
        note(f"picture: {picture(plot, shown.panel(found))}")
    if report:
        from uncore.report import document  # noqa: PLC0415 (slow to load)

        document.of_whatif(report, found, command())
        note(f"report: {report}")
    return OK


def _said(choices: Repeated) -> list[str]:
    """What was chosen, as words."""
    words = []
    for field in fields(choices):
        value = getattr(choices, field.name)
        if value != field.default:
            option = "--" + RENAMED.get(field.name, field.name).replace("_", "-")
            words += [option] if value is True else [option, str(value)]
    return words
