"""Predictions on record: machines that nobody measured for this project.

    run(request) -> Section

They stand on the page before anybody compares them; `uncore validate MACHINE --only prediction
--matrix FILE` does when somebody measures.  A machine is listed if relatives must lend it numbers.
"""

from __future__ import annotations

from dataclasses import asdict

from uncore import topology
from uncore.report.progress import progress
from uncore.report.table import Column
from uncore.topology.load import shipped
from uncore_lab.figures import hardware as figures
from uncore_lab.fitting.numbers import free
from uncore_lab.predict.forecast import forecast
from uncore_lab.predict.observe import observations
from uncore_lab.validate.section import Request, Section

PROSE = (
    "Class medians of machines that nobody measured for this project, with 80 % intervals, from"
    " public specifications and the numbers of relatives (see [prediction.md](prediction.md))."
    " Where memory has several nodes the line is on node 0; sides are named after it. Written down"
    " before any comparison. `lent`: no number that matters kept the value of a file."
)


def run(request: Request) -> Section:
    names = request.chosen(unmeasured(), "no prediction is on record of")
    rows = []
    with progress(len(names), "predicting", "machines") as advance:
        for name in names:
            machine = topology.load(name)
            home = "node0" if len(machine.memories) > 1 else ""
            found = forecast(name, figures.by_level(machine, home), observations())
            rows += [{"machine": name, **asdict(one)} for one in found.classes.values()]
            advance(1)
    return Section(
        name="blind",
        title="Predictions on record",
        prose=PROSE,
        columns=[
            Column("machine", "machine", left=True),
            Column("class", "name", left=True),
            *(Column(head, key, lambda v: f"{v:.1f}") for head, key in HEADS.items()),
            Column("lent", lambda row: "yes" if row["lent"] else "no", left=True),
        ],
        rows=rows,
    )


def unmeasured() -> list[str]:
    known = figures.carried()
    return [name for name in shipped() if name not in known and free(name)]


HEADS = {"predicted": "ns", "from": "low", "to": "high"}
