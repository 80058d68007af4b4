"""Simulates published figures of locks, counts, queues and barriers on the authors' machines.

    run(request) -> Section      compared(name) -> [ComparedFigure]     the figures of one set
    figures_of(machine, curve) -> [(label, measured, simulated, kind)]

Each set is a table of a paper, a commit or a post (figures/bench).  No number of the model was
chosen to fit it, unless a row says `fit` or `used`.  Half of the sets are sealed: none of them is
simulated before `opened` in figures/bench/seal.toml names a day (figures/published_sets.py).
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from uncore.drawing.plot import curves
from uncore.drawing.table import Column, Row
from uncore.execution.execute import execute
from uncore.result import Point
from uncore_lab.figures import published_sets as sets
from uncore_lab.figures.published_sets import PublishedCurve
from uncore_lab.results.table import Table
from uncore_lab.validate.bar import Bar, Value
from uncore_lab.validate.section import NoFigures, ReportPicture, Request, Section

OPEN_SETS_BAR = Bar("open sets: median absolute error", 22, 15, "%")
OPENED_JUDGES_BAR = Bar("opened judges: median absolute error", 29, 20, "%")
# two values of the fitted parameter. Neither is 0, because at 0 the workload does not read a clock.
PROBE_PARAMETERS_NS = 100, 1000
MIN_SPAN_FACTOR = 5.0  # the picture's axis spans at least this factor above and below 1

PROSE = (
    "Figures of papers, commits and posts, each simulated by a small workload on the machine that"
    " was measured, or one of its family. `fit`: a span of private time was chosen by this figure."
    " `base`: the others of its curve are relative to it. `used`: a number of the machine is from"
    " it. Only what is predicted counts. Figures are in the unit of the simulation (millions of"
    " operations a second, ns, or a ratio); as published they stand in figures/bench, with what is"
    " unlike: compiler, clock, system. Judges are sets that were sealed before any was simulated;"
    " those that are not opened are not simulated."
)


@dataclass(frozen=True)
class ComparedFigure:
    """A published figure and its simulated counterpart."""

    set: str
    machine: str
    curve: str
    point: str
    measured: float
    simulated: float
    kind: str
    judge: bool

    @property
    def ratio(self) -> float:
        return self.simulated / self.measured

    @property
    def error(self) -> float:
        return 100 * (self.ratio - 1)

    @property
    def is_predicted(self) -> bool:
        return self.kind == "predicted"

    def row(self) -> Row:
        return {
            "set": self.set,
            "machine": self.machine,
            "curve": self.curve,
            "at": self.point,
            "measured": self.measured,
            "simulated": self.simulated,
            "error_pct": round(self.error, 2),
            "point": self.kind,
            "role": "judge" if self.judge else "open",
        }


def run(request: Request) -> Section:
    names = _chosen_sets(request)
    figures_of_set = {name: compared(name, request.cores) for name in names}
    figures = [figure for set_figures in figures_of_set.values() for figure in set_figures]
    return Section(
        name="bench",
        title="What others published: simulated against measured",
        prose=PROSE,
        columns=COLUMNS,
        rows=[figure.row() for figure in figures],
        bars=_bar_values(figures),
        broken=list(sets.broken(sets.sealed())),
        notes=[_note(name, set_figures) for name, set_figures in figures_of_set.items()],
        pictures=(picture(figures),) if request.pictures else (),
        tables=[table(figures)],
    )


def table(figures: Sequence[ComparedFigure]) -> Table:
    return Table("bench", ("set", "curve", "at"), [figure.row() for figure in figures])


def _chosen_sets(request: Request) -> list[str]:
    """Returns the sets of the named machines, or of all machines, without sealed sets."""
    machine_of = {name: sets.read(name).machine for name in sets.unsealed(sets.sealed())}
    machines = sorted(set(machine_of.values()))
    wanted_machines = request.chosen(machines, "nothing that may be simulated was published of")
    return [name for name, machine in machine_of.items() if machine in wanted_machines]


# ---- Simulation ----------------------------------------------------------------------------------


def compared(name: str, cores: int = 1) -> list[ComparedFigure]:
    """Simulates the figures of a set. Raises NoFigures if the set is sealed."""
    seal = sets.sealed()
    if name not in sets.unsealed(seal):
        raise NoFigures(
            f"{name}: a judge that is not opened; name the day in figures/bench/seal.toml"
        )
    published = sets.read(name)
    return [
        ComparedFigure(name, published.machine, curve.name, *figure, name in seal.judges)
        for curve in published.curves
        for figure in figures_of(published.simulated, curve, cores)
    ]


def figures_of(
    machine: str, curve: PublishedCurve, cores: int = 1
) -> list[tuple[str, float, float, str]]:
    """Returns the label, the measured and the simulated value, and the kind of each figure."""
    fitted_parameter = {curve.fit: f"{_fitted_parameter(machine, curve)}ns"} if curve.fit else {}
    simulated = [
        _quantity(curve, result.points)
        for result in execute(curve.jobs(machine, fitted_parameter), cores)
    ]
    if curve.relative:
        simulated = [value / simulated[0] for value in simulated]
    kinds = [curve.kind(index) for index in range(len(simulated))]
    return list(zip(curve.labels, curve.measured, simulated, kinds, strict=True))


def _fitted_parameter(machine: str, curve: PublishedCurve) -> int:
    """Returns the value in ns of the fitted parameter that reproduces the first figure. The time of
    an operation is linear in this parameter.
    """
    jobs = [curve.job(machine, 0, {curve.fit: f"{ns}ns"}) for ns in PROBE_PARAMETERS_NS]
    short_ns, long_ns = (1000 / _quantity(curve, result.points) for result in execute(jobs))
    slope = (PROBE_PARAMETERS_NS[1] - PROBE_PARAMETERS_NS[0]) / (long_ns - short_ns)
    return max(0, round(PROBE_PARAMETERS_NS[0] + (1000 / curve.measured[0] - short_ns) * slope))


def _quantity(curve: PublishedCurve, points: Sequence[Point]) -> float:
    """Returns the median over the seeds of the quantity that the curve shows."""
    return statistics.median(QUANTITIES[curve.show](point, curve) for point in points)


def _rate(point: Point, _: PublishedCurve) -> float:
    return point.ops / point.elapsed_ps * 1e6


def _of_hart(point: Point, curve: PublishedCurve) -> float:
    return point.thread_ops[curve.hart] / point.elapsed_ps * 1e6


def _slowest_over_fastest(point: Point, _: PublishedCurve) -> float:
    assert point.thread_ps  # only results of older versions lack the times of their threads
    times = [end - entered for entered, end in point.thread_ps]
    return max(times) / min(times)


QUANTITIES: dict[str, Callable[[Point, PublishedCurve], float]] = {
    "rate": _rate,
    "each": lambda point, curve: _rate(point, curve) / point.threads,
    "hart": _of_hart,
    "time": lambda point, curve: 1000 / _rate(point, curve),
    "own": lambda point, curve: 1000 * point.threads / _rate(point, curve),
    "apart": _slowest_over_fastest,
}


# ---- Output --------------------------------------------------------------------------------------


def _bar_values(figures: Sequence[ComparedFigure]) -> list[Value]:
    errors: dict[bool, list[float]] = {}
    for figure in figures:
        if figure.is_predicted:
            errors.setdefault(figure.judge, []).append(abs(figure.error))
    bars = {False: OPEN_SETS_BAR, True: OPENED_JUDGES_BAR}
    return [
        (bars[judge], statistics.median(errors_of_role))
        for judge, errors_of_role in sorted(errors.items())
    ]


def _note(name: str, figures: Sequence[ComparedFigure]) -> str:
    errors = [abs(figure.error) for figure in figures if figure.is_predicted]
    published = sets.read(name)
    return (
        f"{name}: median {statistics.median(errors):.0f} %, worst {max(errors):.0f} % of"
        f" {len(errors)}; {published.source}; unlike: {published.unlike}"
    )


def picture(figures: Sequence[ComparedFigure]) -> ReportPicture:
    """Draws the ratios of simulated to measured figures, with a line for each set."""
    series: dict[str, list[tuple[float, float]]] = {}
    for figure in figures:
        if figure.is_predicted:
            points_of_set = series.setdefault(figure.set, [])
            points_of_set.append((len(points_of_set), figure.ratio))
    max_ratio = max(
        [
            MIN_SPAN_FACTOR,
            *(max(r, 1 / r) for points_of_set in series.values() for _, r in points_of_set),
        ]
    )
    panel = curves(
        series,
        "What others published",
        "figure of the set",
        "simulated over measured",
        words=[str(number + 1) for number in range(max(map(len, series.values())))],
        span=(1 / max_ratio, max_ratio),
    )
    return ReportPicture("bench", "bench: simulated over measured, figure by figure", [panel])


def _number(value: float) -> str:
    return f"{value:.3g}"


COLUMNS = [
    Column("set", "set", left=True, key=True),
    Column("curve", "curve", left=True, key=True),
    Column("at", "at", left=True, key=True),
    Column("measured", "measured", _number),
    Column("simulated", "simulated", _number),
    Column("error %", "error_pct", lambda v: f"{v:+.0f}"),
    Column("point", "point", left=True),
    Column("role", "role", left=True),
]
