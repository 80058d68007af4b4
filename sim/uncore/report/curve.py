"""The table of `run` and `sweep`: results over thread counts; chart.py draws them.

`show(results, as_json)` prints it; `fetch_columns(rows)` returns columns of fetches by source;
`head(key)` returns the name of a column's option; `short_time(value)` formats a value of an option.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from uncore.drawing import formats as units
from uncore.drawing.spread import figure, say_contradictions, say_runs, throughput
from uncore.drawing.table import Column, Row, emit, say
from uncore.result import Point, Result, to_medians
from uncore.result.columns import PointColumn, columns
from uncore.result.frame import AXES, JOB_NAME_COLUMNS, names_job
from uncore.topology.units import NUMBER, TIME_UNITS

TRANSFERS_PREFIX = "transfers."
MIN_SHOWN_FETCHES = 0.005  # lines per operation; fewer would be printed as 0.00


def show(results: Sequence[Result], as_json: bool) -> None:
    """Prints one table with all results. Options that are equal in all rows are in its title."""
    rows = to_medians(results)
    heads = list(dict.fromkeys(k for row in rows for k in row if names_job(k)))
    fixed_keys = [k for k in heads if len({row.get(k) for row in rows}) == 1]
    varying = [
        Column(head(k), k, short_time, left=True, key=True) for k in heads if k not in fixed_keys
    ]
    shown_columns = [*varying, *COLUMNS, *fetch_columns(rows)]
    emit(rows, as_json, shown_columns, _title(rows[0], fixed_keys) if rows else "")
    if not as_json:
        say_runs(rows)
        say_contradictions(rows)
        if samples := max((row.get("samples", 0) for row in rows), default=0):
            say(
                f"{samples} machines were drawn from the intervals of their numbers (--samples)",
                "dim",
            )
        for result in results:
            _print_warnings(result)
    if len(results) == 1 and not as_json:
        say(f"result {results[0].result_hash[:16]}", "dim")


def _print_warnings(result: Result) -> None:
    """Prints warnings about failed checks, missing points and unknown fields."""
    for point in result.points:
        for failure in point.failures:
            say(f"check failed at {point.threads} threads{point.by_seed}: {failure}")
    if result.outcome.partial:
        repeated = len(result.job.get("seeds", ())) or 1
        point_count, expected_count = len(result.points), repeated * len(result.job["threads"])
        say(f"partial: {point_count} of {expected_count} points finished")
    absent = result.points[0].absent if result.points else {}
    for reason in dict.fromkeys(absent.values()):
        names = ", ".join(field for field, field_reason in absent.items() if field_reason == reason)
        say(f"not known: {names} ({reason})", "dim")


def head(key: str) -> str:
    """Returns the name of a column's option."""
    return AXES[key].word if key in AXES else key.partition(".")[2] or key


def short_time(value: object) -> str:
    """Formats a time in its largest unit, such as 1us for 1000ns; returns other text unchanged."""
    match = re.fullmatch(f"{NUMBER}([mun]?s|ps)", str(value))
    if not match or not float(match[1]):
        return str(value)
    time = float(match[1]) * TIME_UNITS[match[2]]
    unit = max(
        (unit for unit in TIME_UNITS if TIME_UNITS[unit] <= time),
        key=TIME_UNITS.__getitem__,
        default="ps",
    )
    return f"{time / TIME_UNITS[unit]:.12g}{unit}"


def _title(row: Row, fixed_keys: Sequence[str]) -> str:
    policies = [
        f"{head(k)} {short_time(row[k])}" for k in fixed_keys if k not in JOB_NAME_COLUMNS[:2]
    ]
    return "  ".join([row[k] for k in JOB_NAME_COLUMNS[:2] if k in fixed_keys] + policies)


def _value_at(key: str) -> Callable[[Row], float | None]:
    return lambda row: row.get(key)


def _column(declared: PointColumn) -> Column:
    """Turns the declared column of a point into a table column, which shows the spread over the
    repeats if the declaration says so.
    """
    head, about = declared.head, declared.about
    if declared.key == "throughput":
        return throughput(head, declared.key, minor=declared.minor)
    if declared.has_spread:
        return figure(head, _value_at(declared.key), declared.write, about, minor=declared.minor)
    is_key = declared.key == "threads"
    return Column(head, declared.key, declared.write, about=about, key=is_key, minor=declared.minor)


INTERVAL_COLUMN = Column(
    "4 of 5 machines",
    lambda row: row.get("samples") and (row["throughput_low"], row["throughput_high"]),
    lambda ends: " to ".join(map(units.rate, ends)) if ends else units.EMPTY,
    about="where numbers of a machine's file have intervals: of machines drawn from these, four"
    " of five have a throughput between",
)
_THREADS_COLUMN, _THROUGHPUT_COLUMN, *_OTHER_COLUMNS = (
    _column(declared) for declared in columns(Point) if declared.head
)
COLUMNS = [_THREADS_COLUMN, _THROUGHPUT_COLUMN, INTERVAL_COLUMN, *_OTHER_COLUMNS]
FETCHES_GROUP = "lines fetched per operation, from"


def fetch_columns(rows: Sequence[Row]) -> list[Column]:
    """Returns a column for each source of fetches that is not rare in all rows."""
    keys = dict.fromkeys(
        key for row in reversed(rows) for key in row if key.startswith(TRANSFERS_PREFIX)
    )
    fetches = [(key, _per_op(key)) for key in keys]
    return [
        figure(key.removeprefix(TRANSFERS_PREFIX), per_op, units.ratio, group=FETCHES_GROUP)
        for key, per_op in fetches
        if any((per_op(row) or 0) >= MIN_SHOWN_FETCHES for row in rows)
    ]


def _per_op(key: str) -> Callable[[Row], float | None]:
    return lambda row: None if row.get(key) is None else row[key] / max(row["ops"], 1)
