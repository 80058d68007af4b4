"""Simulates locks of a host as if its family had not been measured, with numbers of the others.

    run(request) -> Section

Some numbers of a family were chosen by loads and locks: the time for which a core keeps a line, the
cost of a waiting reader.  This experiment replaces each of them by the geometric mean over the
other families, whether they chose it or state it, in cycles or in nanoseconds, whichever the
family's own file uses.  Then the matrices of the host's family determine the remaining numbers.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from math import exp, log

from uncore.drawing.table import Column, Row
from uncore_lab.fitting.numbers import FreeNumber, clocks, free_numbers_of, scaled
from uncore_lab.results.table import Table
from uncore_lab.validate.bar import Bar
from uncore_lab.validate.families import (
    MachineFamily,
    Overrides,
    evaluate,
    families,
    present_values,
)
from uncore_lab.validate.lock_curves import NEAR_ERROR_PCT, LockPoint
from uncore_lab.validate.section import Request, Section

HOST_MEDIAN_BAR = Bar("each host from the others: median error", 20.5, 20, "%")

PROSE = (
    "Bare locks and counts (hold 0, think 0) of each host of lockhammer, with what locks chose in"
    " its family left out and taken from the other families instead, and what matrices determine"
    " fitted to its family's again. Errors as in `locks`."
)


def run(request: Request) -> Section:
    hosts = {host: name for name, family in families().items() for host in family.locks}
    host_names = request.chosen(hosts, "no locks were measured on")
    rows = [row for host in host_names for row in _rows(host, hosts[host], request.cores)]
    errors_pct = [abs(row["error_pct"]) for row in rows]
    return Section(
        name="hosts",
        title="Locks of a host, by the numbers of other families",
        prose=PROSE,
        columns=COLUMNS,
        rows=rows,
        bars=[(HOST_MEDIAN_BAR, statistics.median(errors_pct))],
        notes=[
            f"{sum(error <= NEAR_ERROR_PCT for error in errors_pct)} of {len(errors_pct)} points"
            f" within {NEAR_ERROR_PCT:g} %"
        ],
        tables=[Table("hosts", ("machine", "primitive", "threads"), rows)],
    )


def _rows(host: str, family: str, cores: int) -> Iterator[Row]:
    own_family = families()[family]
    trial = evaluate(
        own_family, lent(own_family, [f for name, f in families().items() if name != family]), cores
    )
    for point in trial.points:
        if point.spot.machine == host:
            yield _row(point)


def _row(point: LockPoint) -> Row:
    return {
        "machine": point.spot.machine,
        "primitive": point.spot.primitive,
        "threads": point.spot.threads,
        "measured_ns": point.spot.measured.median,
        "simulated_ns": point.simulated.median,
        "error_pct": round(point.error, 2),
    }


def lent(family: MachineFamily, others: Sequence[MachineFamily]) -> Overrides:
    """Returns the family's chosen numbers as predicted from other families: the geometric means
    over these, in the family's own unit.
    """
    return {
        key: _lent(key, text, family, [o for o in others if key in _free_numbers(o, key)])
        for key, text in present_values(family).items()
    }


def _lent(key: str, text: str, family: MachineFamily, others: Sequence[MachineFamily]) -> str:
    """Returns the number predicted from the other families; the unchanged number if none of them
    has it.
    """
    if not others:
        return text
    unit = _free_numbers(family, key)[key].unit
    mean_log = statistics.fmean(log(_amount(other, key, unit)) for other in others)
    return scaled(text, exp(mean_log) / _amount(family, key, unit))


def _amount(family: MachineFamily, key: str, unit: str) -> float:
    """Returns the number in nanoseconds, or in cycles of the family's first machine."""
    number = _free_numbers(family, key)[key]
    return number.value / clocks(family.machines[0])[unit]


def _free_numbers(family: MachineFamily, key: str) -> Mapping[str, FreeNumber]:
    """Returns the number of this key, or none if the family does not have it."""
    return free_numbers_of(family.machines[0], [key])


COLUMNS = [
    Column("machine", "machine", left=True, key=True),
    Column("primitive", "primitive", left=True, key=True),
    Column("threads", "threads", key=True),
    Column("measured ns", "measured_ns", "{:.1f}".format),
    Column("simulated ns", "simulated_ns", "{:.1f}".format),
    Column("error %", "error_pct", "{:+.1f}".format),
]
