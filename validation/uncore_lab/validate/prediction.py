"""Predicts each measured machine from the others, without its own data (leave one out).

    run(request) -> Section
    left_out(name, request, whole) -> rows, classes that could not be predicted

This estimates the quality of a prediction of an unmeasured machine: the share of true class medians
inside the stated intervals, errors, and a proper score, compared with three ways to guess without
any model (predict/nulls.py).  Either only the machine is left out, or all of its generation of
cores.  The prediction uses the machine's shape, clocks and descent, the home of the line, and every
number that its file does not call fitted.  It does not use the machine's figures, nor any number
that was fitted to them.

With a user's matrix (`--matrix`) any machine may be named, and classes for which no relative lends
a number are scored as well.  This shows how good a prediction was that was made before the machine
was measured.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache, partial
from statistics import mean
from typing import Any

from uncore import topology
from uncore.drawing.progress import progress
from uncore.drawing.table import Column, Row
from uncore.execution.pool import mapped
from uncore.topology.lineage import Descent, lineage
from uncore_lab.figures import hardware as figures
from uncore_lab.figures.hardware import Hardware
from uncore_lab.figures.sample import medians
from uncore_lab.predict.copied import FAMILY, MACHINE
from uncore_lab.predict.forecast import INTERVAL_SHARE, forecast
from uncore_lab.predict.ledger import entries
from uncore_lab.predict.nulls import MODEL_FREE, guesses, kind
from uncore_lab.predict.observe import observations
from uncore_lab.results.table import Table
from uncore_lab.validate.bar import Bar, Value
from uncore_lab.validate.leave_out import Judged, copied, judged
from uncore_lab.validate.section import Request, Section

# Intervals that contain a larger percentage of the true medians than this are too wide.
MAX_INSIDE_PCT = 88
MIN_JUDGED_CLASSES = 40  # with fewer classes the share inside the intervals is not judged
X86 = "x86"
NOT_BLIND = "machines that nobody predicted blind: mean error"
MEAN_ERROR_BARS = {  # bars for x86 and for other machines, each with the least number of classes
    True: (Bar(f"x86 {NOT_BLIND}", 9.5, 8, "%"), MIN_JUDGED_CLASSES),
    False: (Bar(f"other {NOT_BLIND}", 61, 8, "%"), 12),
}
INSIDE_BAR = Bar("medians inside 80 % intervals", 70, 80, "%", least=True)
DEFAULT_REQUEST = Request()
PROSE = (
    "Each machine is predicted from all others as if it had never been measured: its numbers are"
    " lent by relatives (see [prediction.md](prediction.md)). Its shape, clocks and descent are"
    " given, and where its line was homed. Left out is the machine, or its generation of cores"
    " (`family`). `inside`: the measured median lies in the stated 80 %"
    " interval. `score`: the continuous ranked probability score of the logarithm, an error that"
    " honours honest intervals. Classes that depend on a part that no other machine has are not"
    " predicted; they are listed below the table. The last three columns are what one would guess"
    " without a model: the same class of the nearest relative, that in cycles of the core, and"
    " its median over the relative's generation."
)
SUMS = (
    "{of}, leaving out the {left_out}: {classes} classes, {inside_pct} % inside, error"
    " {error_pct} % in the mean and {median_pct} % in the median, score {score};"
    " without a model: {nulls}"
)


def run(request: Request) -> Section:
    names = _chosen_machines(request)
    modes = (False,) if request.matrix else (False, True)
    tasks = [(name, whole) for whole in modes for name in names]
    rows: list[dict[str, Any]] = []
    alone: dict[str, None] = {}
    with progress(len(tasks), "leaving out", "machines") as advance:
        answers = mapped(partial(_left_out_by_task, request=request), tasks, request.cores)
        for (name, _), (own_rows, unlent_classes) in zip(tasks, answers, strict=True):
            rows += own_rows
            alone |= dict.fromkeys(f"{name} {label}" for label in unlent_classes)
            advance(1)
    unlent = [f"No other machine has the parts of: {', '.join(alone)}"] if alone else []
    return Section(
        name="prediction",
        title="Prediction: each machine from the others, without its own data",
        prose=PROSE,
        columns=COLUMNS,
        rows=rows,
        bars=_bar_values(rows),
        broken=_broken_bounds(rows),
        notes=[*request.order, *_summary(rows), *unlent],
        tables=() if request.matrix else [table(rows)],
    )


def table(rows: Sequence[Row]) -> Table:
    return Table("prediction", ("machine", "class", "left_out"), rows)


def _left_out_by_task(
    task: tuple[str, bool], request: Request
) -> tuple[list[dict[str, Any]], list[str]]:
    return left_out(task[0], request, task[1])


def _chosen_machines(request: Request) -> list[str]:
    if request.matrix:
        return request.of_matrix()
    lacking, instead = "not measured well enough to be left out is", "; or --matrix FILE, yours"
    return request.chosen(figures.well_measured(), lacking, instead)


def left_out(
    name: str, request: Request = DEFAULT_REQUEST, whole: bool = False
) -> tuple[list[dict[str, Any]], list[str]]:
    """Predicts a machine from the others. With `whole`, all of its generation is left out."""
    hardware, truth = _truth(name, request)
    other_names = _machines_left_in(name, whole)
    forecasted = forecast(name, hardware, [o for o in observations() if o.machine in other_names])
    machine, x86 = topology.load(name, measured=True), _core(name)[:1] == (X86,)
    rows = []
    for label, predicted in forecasted.classes.items():
        if label not in truth or not (predicted.blind or request.matrix):
            continue
        real, of_kind = truth[label], kind(machine, hardware.classes[label])
        nulls = guesses(name, of_kind, other_names)
        rows.append(
            {
                "machine": name,
                "class": label,
                "left_out": FAMILY if whole else MACHINE,
                "kind": of_kind,
                "predicted_ns": round(predicted.ns, 2),
                "low_ns": round(predicted.low, 2),
                "high_ns": round(predicted.high, 2),
                "measured_ns": round(real, 2),
                "error_pct": _error_pct(predicted.ns, real),
                "inside": predicted.low <= real <= predicted.high,
                "score": round(predicted.belief.crps(real), 4),
                "lent": predicted.lent,
                "x86": x86,
                **{
                    f"{n}_pct": _error_pct(nulls[n].ns if n in nulls else None, real)
                    for n in MODEL_FREE
                },
            }
        )
    return rows, [label for label, p in forecasted.classes.items() if not p.blind]


def _machines_left_in(name: str, whole: bool) -> list[str]:
    """Returns the measured machines that are not left out."""
    core = _core(name)
    return [
        other_name
        for other_name in figures.well_measured()
        if other_name != name and not (whole and core and _core(other_name) == core)
    ]


@cache
def _core(name: str) -> Descent:
    return lineage(name).get("core", ())


def _truth(name: str, request: Request) -> tuple[Hardware, Mapping[str, float]]:
    """Returns the hardware, which gives the pairs of each class, and the measured median of each
    class.
    """
    machine = topology.load(name)
    has_shipped_figures = name in figures.machines_with_figures() and not request.home
    hardware = (
        figures.read(name) if has_shipped_figures else figures.by_level(machine, request.home)
    )
    if request.matrix:
        matrix = figures.measured_matrix(request.matrix, machine)
        return hardware, medians(matrix, hardware.masks(machine))
    return hardware, {label: figure.ns for label, figure in hardware.classes.items()}


def _error_pct(guess: float | None, real: float) -> float | None:
    return None if guess is None else round(100 * (guess / real - 1), 1)


# ---- Sums over machines
# ---------------------------------------------------------------------------


def _summary(rows: Sequence[Row]) -> list[str]:
    """Returns a sentence for each group of machines (x86 or others) and each way to leave machines
    out; after that, the kinds of classes for which a null model is used.
    """
    sums = [_judgement_text(judgement) for judgement in judged(rows)]
    kinds = [
        f"{judgement.group} {judgement.left_out} ({judgement.best})" for judgement in copied(rows)
    ]
    return [*sums, f"copied, as no better: {', '.join(kinds)}"] if kinds else sums


def _judgement_text(judgement: Judged) -> str:
    """Formats the shares and errors of the classes for which every null model has a value."""
    nulls = [
        f"{name} {judgement.errors[name]:.1f} %, {score:.3f}"
        for name, score in judgement.nulls.items()
    ]
    return SUMS.format(**judgement.row() | {"nulls": "; ".join(nulls)})


def _bar_values(rows: Sequence[Row]) -> list[Value]:
    """Returns the bars for which there are enough rows, each with its value. The rows are
    predictions made without the machine's own figures. The mean errors exclude machines that were
    first predicted blind, because these were often far off, for reasons that no other machine
    shows.
    """
    rows_without_machine = [row for row in rows if row["left_out"] == MACHINE]
    blind = {entry.machine for entry in entries()}
    values = (
        [(INSIDE_BAR, _inside_pct(rows_without_machine))]
        if len(rows_without_machine) >= MIN_JUDGED_CLASSES
        else []
    )
    for x86, (bar, min_classes) in MEAN_ERROR_BARS.items():
        rows_not_blind = [
            row for row in rows_without_machine if row["x86"] == x86 and row["machine"] not in blind
        ]
        if len(rows_not_blind) >= min_classes:
            values.append((bar, mean(abs(row["error_pct"]) for row in rows_not_blind)))
    return values


def _inside_pct(rows: Sequence[Row]) -> float:
    return 100 * mean(bool(row["inside"]) for row in rows)


def _broken_bounds(rows: Sequence[Row]) -> list[str]:
    rows_without_machine = [row for row in rows if row["left_out"] == MACHINE]
    if (
        len(rows_without_machine) < MIN_JUDGED_CLASSES
        or _inside_pct(rows_without_machine) <= MAX_INSIDE_PCT
    ):
        return []
    return [
        f"{_inside_pct(rows_without_machine):.0f} % of the medians are inside intervals of"
        f" {INTERVAL_SHARE:.0%};"
        f" expected at most {MAX_INSIDE_PCT} %"
    ]


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{value:+.1f} %"


COLUMNS = [
    Column("machine", "machine", left=True, key=True),
    Column("class", "class", left=True, key=True),
    Column("left out", "left_out", left=True, key=True),
    Column("predicted ns", "predicted_ns", lambda v: f"{v:.1f}"),
    Column("from ns", "low_ns", lambda v: f"{v:.1f}"),
    Column("to ns", "high_ns", lambda v: f"{v:.1f}"),
    Column("measured ns", "measured_ns", lambda v: f"{v:.1f}"),
    Column("error", "error_pct", _percent),
    Column("inside", lambda row: "yes" if row["inside"] else "no", left=True),
    Column("score", "score", lambda v: f"{v:.3f}"),
    *(Column(null, f"{null}_pct", _percent) for null in MODEL_FREE),
]
