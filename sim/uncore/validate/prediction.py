"""Leave one machine out: each measured machine predicted from the others, without its own data.

    run(request) -> Section
    clocks_of_numbers(request) -> Section        the finding behind: which clock a number follows

What a prediction of an unmeasured machine is worth, as far as that can be known: the share of true
class medians inside the stated intervals, and the errors, beside three ways to guess without any
model.  Given of the machine left out: its shape, clocks and descent, where the line was homed, and
whatever its file does not call fitted; not given: its figures, and every number fitted to them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from statistics import mean, median
from typing import Any

from uncore.errors import UserError, nearest
from uncore.predict.forecast import SHARE, forecast
from uncore.predict.numbers import CORE, UNITS, clocks
from uncore.predict.observe import Observation, measured, observations
from uncore.predict.relatives import BETTER, spreads
from uncore.report.progress import progress
from uncore.report.table import Column, Row
from uncore.topology.lineage import lineage, nearness
from uncore.validate import hardware as figures
from uncore.validate.section import Request, Section

GOAL = (0.7, 0.9)  # share of the true medians inside intervals that say SHARE
ENOUGH = 40  # classes, before a share is judged
X86 = "x86"
NULLS = ("ns", "cycles", "relative")
PROSE = (
    "Each machine is predicted from all others as if it had never been measured: its numbers are"
    " lent by relatives (see [prediction.md](prediction.md)). Given are its shape, its clocks, its"
    " descent and where its line was homed. `inside`: the measured median lies in the stated 80 %"
    " interval. Classes that depend on a part no other machine has are no predictions; they are"
    " listed below the table. The last three columns are what one would guess without a model: the"
    " median of the same class over the maker's other machines, in ns and in core cycles, and the"
    " same class of the nearest relative."
)


def run(request: Request) -> Section:
    names = _chosen(request.machines)
    rows: list[dict[str, Any]] = []
    alone: list[str] = []
    with progress(len(names), "leaving out", "machines") as advance:
        for name in names:
            found, kept = left_out(name)
            rows += found
            alone += [f"{name} {label}" for label in kept]
            advance(1)
    return Section(
        name="prediction",
        title="Prediction: each machine from the others, without its own data",
        prose=PROSE,
        columns=COLUMNS,
        rows=rows,
        broken=_broken(rows),
        notes=[*_summary(rows), f"No other machine has the parts of: {', '.join(alone)}"],
    )


def _chosen(asked: Sequence[str]) -> list[str]:
    known = measured()
    for name in asked:
        if name not in known:
            raise UserError(
                f"'{name}' was not measured well enough to be left out.{nearest(name, known)}"
                f" Expected one of {', '.join(known)}"
            )
    return list(asked) or known


def left_out(name: str) -> tuple[list[dict[str, Any]], list[str]]:
    """A row each class, and the classes that nobody could predict."""
    hardware = figures.read(name)
    found = forecast(name, hardware, [o for o in observations() if o.machine != name])
    guesses = _Guesses(name)
    rows = []
    for label, one in found.classes.items():
        real = hardware.classes[label].ns
        row = {
            "machine": name,
            "class": label,
            "predicted_ns": round(one.ns, 2),
            "low_ns": round(one.low, 2),
            "high_ns": round(one.high, 2),
            "measured_ns": real,
            "error_pct": round(100 * (one.ns / real - 1), 1),
            "inside": one.low <= real <= one.high,
            "x86": guesses.core[:1] == (X86,),
        }
        nulls = {null: guesses.of(null, label) for null in NULLS}
        row |= {f"null_{n}_pct": g and round(100 * (g / real - 1), 1) for n, g in nulls.items()}
        if one.lent:
            rows.append(row)
    return rows, [label for label, one in found.classes.items() if not one.lent]


# ---- Guesses without a model ---------------------------------------------------------------------


class _Guesses:
    """The null models: None where no other machine of the maker has the class."""

    def __init__(self, name: str) -> None:
        self.own, self.core = clocks(name)[CORE], lineage(name).get("core", ())
        others = [other for other in measured() if other != name]
        self.descents = {other: lineage(other).get("core", ()) for other in others}
        self.same = [o for o in others if self.core and self.descents[o][:2] == self.core[:2]]

    def of(self, null: str, label: str) -> float | None:
        known = {o: figures.read(o).classes for o in self.same}
        ns = {o: classes[label].ns for o, classes in known.items() if label in classes}
        if not ns:
            return None
        if null == "ns":
            return median(ns.values())
        if null == "cycles":
            return median(value / clocks(o)[CORE] for o, value in ns.items()) * self.own
        return ns[max(ns, key=lambda o: nearness(self.descents[o], self.core))]


# ---- What it comes to ----------------------------------------------------------------------------


def _summary(rows: Sequence[Row]) -> list[str]:
    kinds: Mapping[str, Callable[[Row], bool]] = {
        "all machines": lambda row: True,
        "x86 alone": lambda row: bool(row["x86"]),
    }
    return [_said(kind, [row for row in rows if of(row)]) for kind, of in kinds.items()]


def _said(kind: str, rows: Sequence[Row]) -> str:
    if not rows:
        return f"{kind}: nothing to predict"
    share = _share(rows)
    nulls = [f"{_errors(rows, f'null_{null}_pct')} ({null})" for null in NULLS]
    return (
        f"{kind}: {share:.0%} of {len(rows)} classes inside intervals of {SHARE:.0%};"
        f" error {_errors(rows, 'error_pct')}; without a model {', '.join(nulls)}"
    ).replace("%", " %")


def _share(rows: Sequence[Row]) -> float:
    return mean(bool(row["inside"]) for row in rows)


def _errors(rows: Sequence[Row], key: str) -> str:
    off = [abs(row[key]) for row in rows if row[key] is not None]
    return f"{mean(off):.1f}% mean, {median(off):.1f}% median" if off else "none"


def _broken(rows: Sequence[Row]) -> list[str]:
    low, high = GOAL
    if len(rows) < ENOUGH or low <= _share(rows) <= high:
        return []
    return [
        f"{_share(rows):.0%} of the medians are inside intervals of {SHARE:.0%}; expected"
        f" {low:.0%} to {high:.0%}"
    ]


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{value:+.1f} %"


COLUMNS = [
    Column("machine", "machine", left=True),
    Column("class", "class", left=True),
    Column("predicted", "predicted_ns", lambda v: f"{v:.1f}"),
    Column("from", "low_ns", lambda v: f"{v:.1f}"),
    Column("to", "high_ns", lambda v: f"{v:.1f}"),
    Column("measured", "measured_ns", lambda v: f"{v:.1f}"),
    Column("error", "error_pct", _percent),
    Column("inside", lambda row: "yes" if row["inside"] else "no", left=True),
    *(Column(f"by {null}", f"null_{null}_pct", _percent) for null in NULLS),
]


# ---- Which clock a number follows ----------------------------------------------------------------

CLOCKS_PROSE = (
    "How much a measured class median, and each kind of number fitted to them, differs between near"
    " relatives (one family, or one generation of it): the typical deviation of a machine from"
    " another's, in nanoseconds, in cycles of the core, and in cycles of the part's own clock"
    " (ring, mesh, fabric). The smallest says what it follows; less than three pairs say nothing."
)


def clocks_of_numbers(request: Request) -> Section:
    rows = [
        {"number": one.slot, "pairs": one.pairs, **{u: one.deviations.get(u) for u in UNITS}}
        for one in spreads([*_classes_seen(), *observations()])
        if one.deviations
    ]
    return Section(
        name="clocks",
        title="Which clock a number follows",
        prose=CLOCKS_PROSE,
        columns=[
            Column("number", "number", left=True),
            Column("pairs", "pairs"),
            *(Column(head, unit, _deviation) for unit, head in zip(UNITS, HEADS, strict=True)),
            Column("follows", _follows, left=True),
        ],
        rows=rows,
    )


def _classes_seen() -> list[Observation]:
    """Measured class medians, as if they were numbers: what a user sees, and no model between."""
    found = []
    for name in measured():
        ancestors, periods = lineage(name), clocks(name)
        for label, one in figures.read(name).classes.items():
            descent = ancestors.get(one.within, ())
            slot = f"{label} of {' '.join(descent[:2])}"
            values = {unit: one.ns / period for unit, period in periods.items()}
            found += [Observation(name, slot, descent, values)] if descent else []
    return sorted(found, key=lambda o: o.slot)


HEADS = ("in ns", "in core cycles", "in uncore cycles")


def _deviation(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.0f} %"


def _follows(row: Row) -> str:
    known = {unit: row[unit] for unit in UNITS if row[unit] is not None}
    least = min(known.values(), default=0.0)
    return " or ".join(u for u, v in known.items() if v <= least / BETTER) if known else "-"
