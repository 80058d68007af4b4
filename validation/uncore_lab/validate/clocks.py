"""Finds the clock that a number follows: nanoseconds, core cycles, or cycles of the ring, mesh or
fabric.

    run(request) -> Section

The experiment compares related machines, so it always uses all of them, whatever the request names.
"""

from __future__ import annotations

from uncore.drawing.table import Column, Row
from uncore.topology.lineage import lineage
from uncore_lab.figures import hardware as figures
from uncore_lab.fitting.numbers import UNITS, clocks
from uncore_lab.predict.observe import Observation, observations
from uncore_lab.predict.relatives import spreads
from uncore_lab.results.table import Table
from uncore_lab.validate.section import NoFigures, Request, Section

TITLE = "Which clock a number follows"

PROSE = (
    "How much a measured class median, and each kind of number fitted to them, differs between"
    " near relatives (one family, or one generation of it): the typical deviation of a machine from"
    " another's, in nanoseconds, in cycles of the core, and in cycles of the part's own clock"
    " (ring, mesh, fabric). The smallest says what it follows; fewer than three pairs say nothing."
)


def run(request: Request) -> Section:
    if request.machines:
        raise NoFigures("clocks follow from all machines together; leave the names out")
    rows = [
        {
            "number": number.slot,
            "pairs": number.pairs,
            **{u: number.deviations.get(u) for u in UNITS},
        }
        for number in spreads([*_classes_seen(), *observations()])
        if number.deviations
    ]
    return Section(
        name="clocks",
        title=TITLE,
        prose=PROSE,
        columns=[
            Column("number", "number", left=True),
            Column("pairs", "pairs"),
            *(Column(head, unit, _deviation_text) for unit, head in zip(UNITS, HEADS, strict=True)),
            Column("follows", _followed_clocks_text, left=True),
        ],
        rows=rows,
        tables=[Table("clocks", ("number",), rows)],
    )


def _classes_seen() -> list[Observation]:
    """Returns measured class medians as observations, which do not depend on any model."""
    observed = []
    for name in figures.well_measured():
        ancestors, periods = lineage(name), clocks(name)
        for label, figure in figures.read(name).classes.items():
            descent = ancestors.get(figure.within, ())
            slot = f"{label} of {' '.join(descent[:2])}"
            values = {unit: figure.ns / period for unit, period in periods.items()}
            observed += [Observation(name, slot, descent, values)] if descent else []
    return sorted(observed, key=lambda o: o.slot)


# Units in which relatives differ by less than the least deviation over this ratio are named, too.
SIMILAR_DEVIATION_RATIO = 0.7

HEADS = ("in ns", "in core cycles", "in uncore cycles")


def _deviation_text(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.0f} %"


def _followed_clocks_text(row: Row) -> str:
    deviations = {unit: row[unit] for unit in UNITS if row[unit] is not None}
    least_deviation = min(deviations.values(), default=0.0)
    return (
        " or ".join(
            u for u, v in deviations.items() if v <= least_deviation / SIMILAR_DEVIATION_RATIO
        )
        if deviations
        else "-"
    )
