"""The table of `run` and `sweep`: results over thread counts; chart.py draws them.

Interface: `show(results, as_json)`; `fetched(rows)`, the columns of what came from where;
`head(key)`, what the option of a column of the job is called; `given(value)`, as it is written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from uncore.drawing import formats as units
from uncore.drawing.spread import figure, say_contradictions, say_runs, throughput
from uncore.drawing.table import Column, Row, emit, say
from uncore.result import Point, Result, to_medians
from uncore.result.columns import PointColumn, columns
from uncore.result.frame import AXES, JOB, names_job
from uncore.topology.units import NUMBER, TIME

TRANSFERS = "transfers."
SEEN = 0.005  # lines per operation: fewer would be written 0.00


def show(results: Sequence[Result], as_json: bool) -> None:
    """One table of all thread counts; what is the same for all of them stands in the title."""
    rows = to_medians(results)
    heads = list(dict.fromkeys(k for row in rows for k in row if names_job(k)))
    same = [k for k in heads if len({row.get(k) for row in rows}) == 1]
    varying = [Column(head(k), k, given, left=True, key=True) for k in heads if k not in same]
    shown = [*varying, *COLUMNS, *fetched(rows)]
    emit(rows, as_json, shown, _title(rows[0], same) if rows else "")
    if not as_json:
        say_runs(rows)
        say_contradictions(rows)
        if drawn := max((row.get("samples", 0) for row in rows), default=0):
            say(
                f"{drawn} machines were drawn from the intervals of their numbers (--samples)",
                "dim",
            )
        for result in results:
            _remarks(result)
    if len(results) == 1 and not as_json:
        say(f"result {results[0].result_hash[:16]}", "dim")


def _remarks(result: Result) -> None:
    """Warnings that a reader of the table needs: failed checks, missing points, unknown fields."""
    for point in result.points:
        for failure in point.failures:
            say(f"check failed at {point.threads} threads{point.by_seed}: {failure}")
    if result.outcome.partial:
        repeated = len(result.job.get("seeds", ())) or 1
        done, expected = len(result.points), repeated * len(result.job["threads"])
        say(f"partial: {done} of {expected} points finished")
    absent = result.points[0].absent if result.points else {}
    for reason in dict.fromkeys(absent.values()):
        names = ", ".join(field for field, why in absent.items() if why == reason)
        say(f"not known: {names} ({reason})", "dim")


def head(key: str) -> str:
    """The option's name."""
    return AXES[key].word if key in AXES else key.partition(".")[2] or key


def given(value: object) -> str:
    """A value of an option as a person writes it: 1us for 1000ns; other text stays."""
    match = re.fullmatch(f"{NUMBER}([mun]?s|ps)", str(value))
    if not match or not float(match[1]):
        return str(value)
    time = float(match[1]) * TIME[match[2]]
    unit = max((unit for unit in TIME if TIME[unit] <= time), key=TIME.__getitem__, default="ps")
    return f"{time / TIME[unit]:.12g}{unit}"


def _title(row: Row, same: Sequence[str]) -> str:
    policies = [f"{head(k)} {given(row[k])}" for k in same if k not in JOB[:2]]
    return "  ".join([row[k] for k in JOB[:2] if k in same] + policies)


def at(key: str) -> Callable[[Row], float | None]:
    return lambda row: row.get(key)


def _column(declared: PointColumn) -> Column:
    """The declared column of a point as one of the table, with its spread over the repeats."""
    head, about = declared.head, declared.about
    if declared.key == "throughput":
        return throughput(head, declared.key, minor=declared.minor)
    if declared.apart:
        return figure(head, at(declared.key), declared.write, about, minor=declared.minor)
    first = declared.key == "threads"
    return Column(head, declared.key, declared.write, about=about, key=first, minor=declared.minor)


INTERVAL = Column(
    "4 of 5 machines",
    lambda row: row.get("samples") and (row["throughput_low"], row["throughput_high"]),
    lambda ends: " to ".join(map(units.rate, ends)) if ends else units.EMPTY,
    about="where numbers of a machine's file have intervals: of machines drawn from these, four"
    " of five have a throughput between",
)
_THREADS, _THROUGHPUT, *_OTHERS = (_column(one) for one in columns(Point) if one.head)
COLUMNS = [_THREADS, _THROUGHPUT, INTERVAL, *_OTHERS]
FETCHED = "lines fetched per operation, from"


def fetched(rows: Sequence[Row]) -> list[Column]:
    """A column for each distance class that the rows have."""
    keys = dict.fromkeys(key for row in reversed(rows) for key in row if key.startswith(TRANSFERS))
    shares = [(key, _per_op(key)) for key in keys]
    return [
        figure(key.removeprefix(TRANSFERS), of, units.ratio, group=FETCHED)
        for key, of in shares
        if any((of(row) or 0) >= SEEN for row in rows)
    ]


def _per_op(key: str) -> Callable[[Row], float | None]:
    return lambda row: None if row.get(key) is None else row[key] / max(row["ops"], 1)
