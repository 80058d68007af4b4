"""Compares the simulated throughput of n threads with one lock with lockhammer's curves.

    run(request) -> Section      measure(spots, cores) -> [LockPoint]

Errors compare times of an operation.  If hold and think are 0, the harness's time is subtracted
first.  If only think is 0 and the hold excludes other threads, the hold is subtracted.  Points of
one thread are drawn but not judged, because one thread shares nothing.  A curve's knee is the
smallest thread count with at least nine tenths of the best throughput.  The ticket law expresses
the time of a ticket lock on one socket as a base plus a price for each waiting core.
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from uncore.drawing.table import Column, Row
from uncore.execution.execute import execute
from uncore_lab.figures.simulate import MATRIX_SEEDS
from uncore_lab.results.table import Table
from uncore_lab.validate import lockhammer
from uncore_lab.validate.bar import Bar, Value
from uncore_lab.validate.curves import Drawing, pictures
from uncore_lab.validate.lockhammer import BARE_SEEDS, NO_PARAMETERS, SLEEPING, Ns, Spot
from uncore_lab.validate.section import Request, Section

NEAR_ERROR_PCT = 35.0  # largest error with which a point counts as near
# share of the best throughput at the knee, and the largest factor between two knees that agree
KNEE_THROUGHPUT_SHARE, MAX_KNEE_FACTOR = 0.9, 2.0
KNEE_SETTING_NS = (200, 1000)  # hold and think of the curves whose knees are compared
# primitive and hosts of the curves to which the ticket law is fitted; only points on one socket are
# used
LAW_CURVES = "ticket_spinlock", ("skylake24", "broadwell10x2")
THREADS_OF_A_CORE = 2  # threads of one core, which share its copy of the line

BARE_MEDIAN_BAR = Bar("hold 0, think 0: median error", 11.5, 15, "%")
BARE_NEAR_BAR = Bar(f"hold 0, think 0: points within {NEAR_ERROR_PCT:g} %", 86, 90, "%", least=True)
BUSY_MEDIAN_BAR = Bar("with hold or think: median error", 10.1, 15, "%")
KNEES_NEAR_BAR = Bar("knees within one doubling", 88, 80, "%", least=True)
LAW_ERROR_BAR = Bar("ticket law: worst of base and price", 13.5, 15, "%")
DRAWING = Drawing(
    pictures=("hold_ns", "think_ns"),
    panel="machine",
    line="primitive",
    x="threads",
    simulated="simulated_ns",
    measured="measured_ns",
    heads=("threads", "ns an operation"),
)

PROSE = (
    "Threads meet at a barrier; each takes the lock, holds it, lets it go, stays away, again and"
    " again, and stops. A point is the elapsed time over the operations of all, in ns. Threads are"
    " placed in the order in which lockhammer pinned them. Measured: medians of nine runs;"
    f" simulated: medians of {len(MATRIX_SEEDS)} seeds, of bare locks {len(BARE_SEEDS)}. At hold 0"
    " and think 0 both are less the harness (the primitive `empty`); elsewhere the loops that"
    " stand for hold and think last as long as `empty` shows that they did. Errors at"
    " think 0 are of what is left without the hold, if holding excludes others."
    f" `near`: points within {NEAR_ERROR_PCT:g} %; `knee`: the least number of threads with"
    f" nine tenths of the best throughput, simulated / measured. {SLEEPING} is a"
    " program of Linux (workloads/programs), for its waiters sleep; no bar counts it."
)


@dataclass(frozen=True)
class LockPoint:
    """A point of a curve, measured and simulated."""

    spot: Spot
    simulated: Ns

    @property
    def error(self) -> float:
        return self.spot.error(self.simulated.median)

    @property
    def is_judged(self) -> bool:
        return self.spot.threads > 1


# ---- Simulation ----------------------------------------------------------------------------------


def measure(
    spots: Sequence[Spot],
    cores: int = 1,
    overrides: Mapping[str, str] = NO_PARAMETERS,
    ops: int = 0,
    seeds: tuple[int, ...] = (),
) -> list[LockPoint]:
    """Simulates these points and returns them in the same order. The harness's time is subtracted
    from that of bare locks.
    """
    runs = list(dict.fromkeys([*spots, *(spot.harness for spot in spots if spot.is_bare)]))
    results = execute([spot.job(overrides, ops, seeds) for spot in runs], cores)
    times = {spot: lockhammer.simulated(result) for spot, result in zip(runs, results, strict=True)}
    return [
        LockPoint(
            spot, times[spot].minus(times[spot.harness].median) if spot.is_bare else times[spot]
        )
        for spot in spots
    ]


def run(request: Request) -> Section:
    names = request.chosen(lockhammer.machines_with_figures(), "no locks were measured on")
    spots = [spot for name in names for spot in lockhammer.spots(name, _threads(name, request))]
    points = measure(spots, request.cores)
    spun = [point for point in points if not point.spot.is_sleeping]
    return Section(
        name="locks",
        title="Locks: what n threads get, simulated against measured",
        prose=PROSE,
        columns=COLUMNS,
        rows=[_row(curve) for curve in _curves(points)],
        bars=list(_bar_values(spun)),
        notes=[*_host_notes(names), *_notes_on_errors(points)],
        pictures=pictures("locks", table(points).rows, DRAWING) if request.pictures else (),
        tables=() if request.every else [table(points)],
    )


def table(points: Sequence[LockPoint]) -> Table:
    return Table(
        "locks",
        ("machine", "primitive", "hold_ns", "think_ns", "threads"),
        [_figures(point) for point in points],
    )


def _figures(point: LockPoint) -> Row:
    spot, measured, simulated = point.spot, point.spot.measured, point.simulated
    return {
        "machine": spot.machine,
        "primitive": spot.primitive,
        "hold_ns": spot.hold,
        "think_ns": spot.think,
        "threads": spot.threads,
        "measured_ns": measured.median,
        "p20_ns": measured.low,
        "p80_ns": measured.high,
        "simulated_ns": simulated.median,
        "least_ns": simulated.low,
        "most_ns": simulated.high,
        "error_pct": None if point.error == float("inf") else round(point.error, 2),
        "point": "predicted" if point.is_judged else "one thread",
    }


def _threads(machine: str, request: Request) -> Sequence[int]:
    measured = lockhammer.read(machine)
    return range(1, measured.max_threads + 1) if request.every else measured.doubling()


# ---- Errors relative to the measured curves ------------------------------------------------------


def _bar_values(points: Sequence[LockPoint]) -> Iterator[Value]:
    """Yields each bar with its value."""
    bare_errors = [abs(p.error) for p in points if p.is_judged and p.spot.is_bare]
    busy_errors = [abs(p.error) for p in points if p.is_judged and not p.spot.is_bare]
    yield BARE_MEDIAN_BAR, statistics.median(bare_errors)
    yield BARE_NEAR_BAR, 100 * _near_share(bare_errors)
    yield BUSY_MEDIAN_BAR, statistics.median(busy_errors)
    knees = [
        _factor_between(*_knees(curve)) <= MAX_KNEE_FACTOR
        for curve in _curves(points)
        if _setting(curve) == KNEE_SETTING_NS
    ]
    yield KNEES_NEAR_BAR, 100 * statistics.fmean(knees)
    laws = [_law_error_pct(curve) for curve in _curves(points) if _has_law(curve)]
    if laws:
        yield LAW_ERROR_BAR, max(laws)


def _near_share(errors: Sequence[float]) -> float:
    return sum(error <= NEAR_ERROR_PCT for error in errors) / len(errors)


def _factor_between(value: float, other_value: float) -> float:
    """Returns the factor, at least 1, by which two values differ."""
    return max(value / other_value, other_value / value)


def _curves(points: Iterable[LockPoint]) -> list[list[LockPoint]]:
    """Groups the points into curves: one for each machine, primitive and setting."""
    curves: dict[tuple[str, str, int, int], list[LockPoint]] = {}
    for point in points:
        spot = point.spot
        curves.setdefault((spot.machine, spot.primitive, spot.hold, spot.think), []).append(point)
    return list(curves.values())


def _setting(curve: Sequence[LockPoint]) -> tuple[int, int]:
    return curve[0].spot.hold, curve[0].spot.think


def _knees(curve: Sequence[LockPoint]) -> tuple[int, int]:
    return _knee(curve, lambda p: p.simulated), _knee(curve, lambda p: p.spot.measured)


def _knee(curve: Sequence[LockPoint], time_of: Callable[[LockPoint], Ns]) -> int:
    max_time = min(time_of(point).median for point in curve) / KNEE_THROUGHPUT_SHARE
    return next(point.spot.threads for point in curve if time_of(point).median <= max_time)


# ---- The law of the ticket lock ------------------------------------------------------------------


def _has_law(curve: Sequence[LockPoint]) -> bool:
    spot = curve[0].spot
    return spot.is_bare and spot.primitive == LAW_CURVES[0] and spot.machine in LAW_CURVES[1]


def _laws(curve: Sequence[LockPoint]) -> tuple[tuple[float, float], tuple[float, float]]:
    """Fits (base, price of a core) to the points of one socket. Returns the simulated law, and then
    the measured law.
    """
    socket = lockhammer.read(curve[0].spot.machine).socket
    points_of_socket = [
        point for point in curve if THREADS_OF_A_CORE < point.spot.threads <= socket
    ]
    cores = [point.spot.threads / THREADS_OF_A_CORE for point in points_of_socket]
    lines = [
        np.polynomial.Polynomial.fit(cores, ns, 1).convert().coef
        for ns in (
            [p.simulated.median for p in points_of_socket],
            [p.spot.measured.median for p in points_of_socket],
        )
    ]
    (base, price), (real_base, real_price) = lines
    return (float(base), float(price)), (float(real_base), float(real_price))


def _law_error_pct(curve: Sequence[LockPoint]) -> float:
    return max(
        abs(100 * (simulated / measured - 1))
        for simulated, measured in zip(*_laws(curve), strict=True)
    )


# ---- Output --------------------------------------------------------------------------------------


def _row(curve: Sequence[LockPoint]) -> Row:
    spot, judged = curve[0].spot, [abs(p.error) for p in curve if p.is_judged]
    worst = max((p for p in curve if p.is_judged), key=lambda p: abs(p.error))
    return {
        "machine": spot.machine,
        "primitive": spot.primitive,
        "hold": spot.hold,
        "think": spot.think,
        "threads": [p.spot.threads for p in curve],
        "measured": [round(p.spot.measured.median, 1) for p in curve],
        "p20": [round(p.spot.measured.low, 1) for p in curve],
        "p80": [round(p.spot.measured.high, 1) for p in curve],
        "simulated": [round(p.simulated.median, 1) for p in curve],
        "least": [round(p.simulated.low, 1) for p in curve],
        "most": [round(p.simulated.high, 1) for p in curve],
        "spread": round(statistics.median(p.simulated.spread for p in curve), 1),
        "median_error": _percent(statistics.median(judged)),
        "near": [sum(error <= NEAR_ERROR_PCT for error in judged), len(judged)],
        "worst": _percent(worst.error),
        "worst_at": worst.spot.threads,
        "knee": list(_knees(curve)),
    }


def _percent(error: float) -> float | None:
    return None if error == float("inf") else round(error, 1)


def _pairs_text(row: Row) -> str:
    points = zip(row["threads"], row["simulated"], row["measured"], strict=True)
    return ", ".join(f"{n}: {simulated:.0f} / {measured:.0f}" for n, simulated, measured in points)


COLUMNS = [
    Column("machine", "machine", left=True, key=True),
    Column("primitive", "primitive", left=True, key=True),
    Column("hold ns", "hold", key=True),
    Column("think ns", "think", key=True),
    Column("median error %", "median_error"),
    Column("near", "near", lambda value: "{} of {}".format(*value)),
    Column("worst %", "worst"),
    Column("at threads", "worst_at"),
    Column("spread %", "spread"),
    Column("knee at threads", "knee", lambda value: "{} / {}".format(*value)),
    Column("threads: simulated / measured ns", _pairs_text, left=True),
]


def _host_notes(names: Sequence[str]) -> Iterator[str]:
    for name in names:
        yield f"{name}: {lockhammer.read(name).host}, with the numbers of its family"


def _notes_on_errors(points: Sequence[LockPoint]) -> Iterator[str]:
    """Yields a sentence for each machine and primitive with the number of points that are near, and
    the settings of the other points.
    """
    primitives: dict[tuple[str, str], list[LockPoint]] = {}
    for point in points:
        if point.is_judged:
            primitives.setdefault((point.spot.machine, point.spot.primitive), []).append(point)
    for name, points_of_lock in primitives.items():
        outliers_by_setting = Counter(
            f"{p.spot.hold}/{p.spot.think}" for p in points_of_lock if abs(p.error) > NEAR_ERROR_PCT
        )
        median = statistics.median(abs(point.error) for point in points_of_lock)
        outlier_text = ", ".join(
            f"{outliers} at {setting}" for setting, outliers in outliers_by_setting.items()
        )
        count, near_points = len(points_of_lock), len(points_of_lock) - outliers_by_setting.total()
        yield (
            f"{' '.join(name)}: median {median:.1f} %, {near_points} of {count} near"
            + (f"; not: {outlier_text}" if outlier_text else "")
        )
