"""Leave one machine out: each measured machine predicted from the others, without its own data.

    run(request) -> Section
    left_out(name) -> rows, classes that nobody could predict

What a prediction of an unmeasured machine is worth, as far as that can be known: the share of true
class medians inside the stated intervals, and the errors, beside three ways to guess without any
model.  Given of the machine left out: its shape, clocks and descent, where the line was homed, and
whatever its file does not call fitted; not given: its figures, and every number fitted to them.

With a matrix of the user's (`--matrix`) any machine may be asked for, and classes that nobody lent
a number for are scored too: so predictions made before anybody measured are judged afterwards.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from statistics import mean, median
from typing import Any

from uncore import topology
from uncore.drawing.progress import progress
from uncore.drawing.table import Column, Row
from uncore.execution.pool import mapped
from uncore.topology.lineage import lineage
from uncore_lab.figures import hardware as figures
from uncore_lab.figures.hardware import Hardware
from uncore_lab.figures.sample import medians
from uncore_lab.predict.forecast import SHARE, forecast
from uncore_lab.predict.ledger import entries
from uncore_lab.predict.observe import observations
from uncore_lab.results.table import Table
from uncore_lab.validate.bar import Bar, Value
from uncore_lab.predict.nulls import Nulls, guesses
from uncore_lab.validate.section import Request, Section

MOST = 0.9  # of the true medians inside intervals: more, and the intervals are too wide
ENOUGH = 40  # classes, before a share is judged
X86 = "x86"
BEFORE = "machines that nobody predicted blind"
MEAN = Bar(f"{BEFORE}: mean error", 9.1, 8, "%")
INSIDE = Bar("medians inside 80 % intervals", 70, 80, "%", least=True)
ALL = Request()
PROSE = (
    "Each machine is predicted from all others as if it had never been measured: its numbers are"
    " lent by relatives (see [prediction.md](prediction.md)). Its shape, clocks and descent are"
    " given, and where its line was homed. `inside`: the measured median lies in the stated 80 %"
    " interval. Classes that depend on a part that no other machine has are not predicted; they are"
    " listed below the table. The last three columns are what one would guess without a model: the"
    " median of the same class over the maker's other machines, in ns and in core cycles, and the"
    " same class of the nearest relative."
)


def run(request: Request) -> Section:
    names = _chosen(request)
    rows: list[dict[str, Any]] = []
    alone: list[str] = []
    with progress(len(names), "leaving out", "machines") as advance:
        answers = mapped(partial(left_out, request=request), names, request.cores)
        for name, (own, unlent_classes) in zip(names, answers, strict=True):
            rows += own
            alone += [f"{name} {label}" for label in unlent_classes]
            advance(1)
    unlent = [f"No other machine has the parts of: {', '.join(alone)}"] if alone else []
    return Section(
        name="prediction",
        title="Prediction: each machine from the others, without its own data",
        prose=PROSE,
        columns=COLUMNS,
        rows=rows,
        bars=_values(rows),
        broken=_broken(rows),
        notes=[*request.order, *_summary(rows), *unlent],
        tables=() if request.matrix else [table(rows)],
    )


def table(rows: Sequence[Row]) -> Table:
    return Table("prediction", ("machine", "class"), rows)


def _chosen(request: Request) -> list[str]:
    if request.matrix:
        return request.of_matrix()
    lacking, instead = "not measured well enough to be left out is", "; or --matrix FILE, yours"
    return request.chosen(figures.well_measured(), lacking, instead)


def left_out(name: str, request: Request = ALL) -> tuple[list[dict[str, Any]], list[str]]:
    hardware, truth = _truth(name, request)
    forecasted = forecast(name, hardware, [o for o in observations() if o.machine != name])
    x86 = lineage(name).get("core", ())[:1] == (X86,)
    carried = name in figures.carried()
    rows = []
    for label, predicted in forecasted.classes.items():
        if label not in truth or not (predicted.blind or request.matrix):
            continue
        real = truth[label]
        nulls = guesses(name, label) if carried else {}
        rows.append(
            {
                "machine": name,
                "class": label,
                "predicted_ns": round(predicted.ns, 2),
                "low_ns": round(predicted.low, 2),
                "high_ns": round(predicted.high, 2),
                "measured_ns": round(real, 2),
                "error_pct": _off(predicted.ns, real),
                "inside": predicted.low <= real <= predicted.high,
                "lent": predicted.lent,
                "x86": x86,
                **{f"{null}_pct": _off(nulls.get(null), real) for null in Nulls._fields},
            }
        )
    return rows, [label for label, p in forecasted.classes.items() if not p.blind]


def _truth(name: str, request: Request) -> tuple[Hardware, Mapping[str, float]]:
    """Which pairs are a class, and the measured median of each."""
    machine = topology.load(name)
    ours = name in figures.carried() and not request.home
    hardware = figures.read(name) if ours else figures.by_level(machine, request.home)
    if request.matrix:
        matrix = figures.measured_matrix(request.matrix, machine)
        return hardware, medians(matrix, hardware.masks(machine))
    return hardware, {label: figure.ns for label, figure in hardware.classes.items()}


def _off(guess: float | None, real: float) -> float | None:
    return None if guess is None else round(100 * (guess / real - 1), 1)


# ---- What it comes to ----------------------------------------------------------------------------


def _summary(rows: Sequence[Row]) -> list[str]:
    """Of all machines; where others than x86 are among them, of x86; and of those known longest."""
    kinds = {"all machines": rows, "x86 alone": [row for row in rows if row["x86"]]}
    if len(kinds["x86 alone"]) in (0, len(rows)):
        del kinds["x86 alone"]
    return [_errors_of(kind, own) for kind, own in kinds.items()]


def _before(rows: Sequence[Row]) -> list[Row]:
    """Without the machines that were predicted blind first: what is odd about those is not known
    from any other, or they would not have been far off then."""
    blind = {entry.machine for entry in entries()}
    return [row for row in rows if row["machine"] not in blind]


def _errors_of(kind: str, rows: Sequence[Row]) -> str:
    if not rows:
        return f"{kind}: nothing to predict"
    share = _share(rows)
    nulls = [f"{_errors(rows, f'{null}_pct')} ({null})" for null in Nulls._fields]
    return (
        f"{kind}: {share:.0%} of {len(rows)} classes inside intervals of {SHARE:.0%};"
        f" error {_errors(rows, 'error_pct')}; without a model {', '.join(nulls)}"
    ).replace("%", " %")


def _share(rows: Sequence[Row]) -> float:
    return mean(bool(row["inside"]) for row in rows)


def _mean(rows: Sequence[Row]) -> float:
    return mean(abs(float(row["error_pct"])) for row in rows)


def _errors(rows: Sequence[Row], key: str) -> str:
    off = [abs(row[key]) for row in rows if row[key] is not None]
    return f"{mean(off):.1f}% mean, {median(off):.1f}% median" if off else "none"


def _values(rows: Sequence[Row]) -> list[Value]:
    if len(rows) < ENOUGH:
        return []
    before = _before(rows)
    inside = [(INSIDE, 100 * _share(rows))]
    return [*inside, (MEAN, _mean(before))] if len(before) >= ENOUGH else inside


def _broken(rows: Sequence[Row]) -> list[str]:
    if len(rows) < ENOUGH or _share(rows) <= MOST:
        return []
    return [
        f"{_share(rows):.0%} of the medians are inside intervals of {SHARE:.0%}; expected at most"
        f" {MOST:.0%}"
    ]


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{value:+.1f} %"


COLUMNS = [
    Column("machine", "machine", left=True, key=True),
    Column("class", "class", left=True, key=True),
    Column("predicted ns", "predicted_ns", lambda v: f"{v:.1f}"),
    Column("from ns", "low_ns", lambda v: f"{v:.1f}"),
    Column("to ns", "high_ns", lambda v: f"{v:.1f}"),
    Column("measured ns", "measured_ns", lambda v: f"{v:.1f}"),
    Column("error", "error_pct", _percent),
    Column("inside", lambda row: "yes" if row["inside"] else "no", left=True),
    *(Column(null.replace("_", " "), f"{null}_pct", _percent) for null in Nulls._fields),
]
