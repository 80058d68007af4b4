"""Turns results into the panels of a picture: chooses its axes and series.

    panels(results, Wanted(x="hold", y=("throughput", "p99"), facet="machine"))
    panels(results, Wanted(heat=("hold", "system.join.latency")))

Every option with several values is an axis. An axis that is not used as x, as a side of a heat map
or as the facet distinguishes series, whose labels name its values. The spread over the repeats is
drawn as a band. The knee of a curve is the smallest thread count with nine tenths of the greatest
throughput; it is not marked if it is the first or the last point.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from uncore.drawing.panels import Curves, Grid, Panel, curves, grid
from uncore.drawing.spread import bounds
from uncore.drawing.table import Row
from uncore.errors import UserError, suggestion
from uncore.report.curve import head, short_time
from uncore.report.selection import Wanted, figure
from uncore.result import Result, to_medians
from uncore.result.columns import PointColumn
from uncore.result.frame import job_columns, names_job
from uncore.topology.units import NUMBER, SIZE_UNITS, TIME_UNITS

KNEE_THROUGHPUT_SHARE = 0.9
# columns whose values appear in labels without the name of the column
SELF_NAMED_COLUMNS = ("workload", "machine", "engine")


def panels(results: Iterable[Result], wanted: Wanted = Wanted()) -> list[Panel]:  # noqa: B008
    """Returns a panel for each figure and each value of the facet."""
    rows = to_medians(result for result in results if result.points)
    axes = _Axes(rows)
    if wanted.heat:
        return _grids(axes, wanted, *(axes.find("--heat", key) for key in wanted.heat))
    x = axes.find("--x", wanted.x) if wanted.x else axes.usual_x()
    facet = axes.find("--facet", wanted.facet) if wanted.facet else ""
    split = axes.split(rows, facet)
    return [
        panel
        for name in wanted.y
        for panel in _with_common_height(_curves(axes, part, name, x, facet) for part in split)
    ]


def check(wanted: Wanted, jobs: Iterable[dict[str, Any]]) -> None:
    """Raises a UserError unless the jobs have the wanted axes; a job is a document."""
    axes = _Axes([job_columns(job) for job in jobs])
    options = {"--x": [wanted.x], "--facet": [wanted.facet], "--heat": wanted.heat or ()}
    for option, keys in options.items():
        for key in filter(None, keys):
            axes.find(option, key)


class _Axes:
    """The columns that identify the rows of results, and those in which the rows differ."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self.rows = rows
        self.known = [*dict.fromkeys(k for row in rows for k in row if names_job(k)), "threads"]
        self.varying = [k for k in self.known if len({row.get(k) for row in rows}) > 1]

    def find(self, option: str, word: str) -> str:
        """Returns the key of the column with this option name, or whose key ends in `.word`."""
        for key in self.known:
            if word in (key, head(key)) or key.endswith(f".{word}"):
                return key
        words = [head(key) for key in self.known]
        raise UserError(
            f"{option} {word}: no such axis; write one of {', '.join(words)}."
            f"{suggestion(word, words)}"
        )

    def usual_x(self) -> str:
        """Returns "threads", or a numeric column that varies if all thread counts are equal."""
        numbers = [k for k in self.varying if _all_numeric(row.get(k) for row in self.rows)]
        return "threads" if "threads" in self.varying or not numbers else numbers[0]

    def split(self, rows: Sequence[Row], key: str) -> list[Sequence[Row]]:
        values = dict.fromkeys(row.get(key) for row in rows) if key else {}
        return [[row for row in rows if row.get(key) == value] for value in values] or [rows]

    def title(self, rows: Sequence[Row], key: str, x: str = "") -> str:
        fixed = " on ".join(
            str(rows[0][k]) for k in SELF_NAMED_COLUMNS[:2] if k not in self.varying
        )
        parts = [fixed, _label(key, rows[0]) if key else ""]
        if "threads" not in (*self.varying, x):
            parts.append(f"{rows[0]['threads']} threads")
        return ", ".join(part for part in parts if part)


def _label(key: str, row: Row) -> str:
    return (
        str(row.get(key))
        if key in SELF_NAMED_COLUMNS
        else f"{head(key)} {short_time(row.get(key))}"
    )


def _all_numeric(values: Iterable[Any]) -> bool:
    return all(isinstance(_value(value), (int, float)) for value in values)


def _value(value: Any) -> Any:
    """Converts a value to a number, in ns or bytes if it has a unit; returns other values as is."""
    match = re.fullmatch(NUMBER + r"\s*([A-Za-z]*)", str(value))
    if not match:
        return value
    number, unit = float(match[1]), match[2]
    if unit in TIME_UNITS:
        return number * TIME_UNITS[unit] / TIME_UNITS["ns"]
    return number * SIZE_UNITS.get(unit, 1) if unit in SIZE_UNITS or not unit else value


def _curves(axes: _Axes, rows: Sequence[Row], name: str, x: str, facet: str) -> Curves | None:
    point_column = figure(name)
    series_keys = [k for k in axes.varying if k not in (x, facet)]
    labels = list(dict.fromkeys(_series(row, series_keys) for row in axes.rows))
    numeric = _all_numeric(row.get(x) for row in rows)
    words = [] if numeric else [str(v) for v in dict.fromkeys(row.get(x) for row in rows)]
    series: dict[str, list[tuple[float, ...]]] = {label: [] for label in labels}
    for row in rows:
        if row.get(point_column.key) is not None:
            position = _value(row.get(x)) if numeric else words.index(str(row.get(x)))
            median = row[point_column.key]
            heights = [median, *(bounds(row, point_column.key) or (median,) * 2)]
            series[_series(row, series_keys)].append(
                (position, *(y / point_column.scale for y in heights))
            )
    points_of_series = {label: sorted(points) for label, points in series.items() if points}
    if not points_of_series:
        return None
    knees = _knees(points_of_series) if (x, name) == ("threads", "throughput") else {}
    axis = head(x) + _unit(row.get(x) for row in rows)
    return curves(
        points_of_series,
        axes.title(rows, facet, x),
        axis,
        point_column.axis,
        (),
        knees,
        words,
        labels,
    )


def _with_common_height(panels: Iterable[Curves | None]) -> list[Panel]:
    """Returns the panels that have data, with a common vertical scale."""
    with_data = [panel for panel in panels if panel]
    if len(with_data) < 2:
        return [*with_data]
    lows, highs = zip(*(panel.heights for panel in with_data), strict=True)
    return [replace(panel, span=(min(lows), max(highs))) for panel in with_data]


def _series(row: Row, series_keys: Sequence[str]) -> str:
    return ", ".join(_label(key, row) for key in series_keys) or str(row["machine"])


def _unit(values: Iterable[Any]) -> str:
    """Returns ", ns", to be appended to the title of an axis, if its values are times; else ""."""
    texts = [re.sub(NUMBER, "", str(value)).strip() for value in values]
    return (
        ", ns"
        if any(text in TIME_UNITS for text in texts) and set(texts) <= {*TIME_UNITS, ""}
        else ""
    )


def _knees(series: Mapping[str, Sequence[Sequence[float]]]) -> dict[str, Sequence[float]]:
    knees: dict[str, Sequence[float]] = {}
    for label, points in series.items():
        threshold = KNEE_THROUGHPUT_SHARE * max(point[1] for point in points)
        knee = next(point for point in points if point[1] >= threshold)
        if knee not in (points[0], points[-1]):
            knees[label] = knee[:2]
    return knees


def _grids(axes: _Axes, wanted: Wanted, x: str, y: str) -> list[Panel]:
    """Returns a heat map for each combination of values of the other varying columns. All maps have
    the same colour scale.
    """
    name = wanted.y[0]
    point_column = figure(name)
    other_columns = [k for k in axes.varying if k not in (x, y)]
    columns, lines = _values(axes.rows, x), _values(axes.rows, y)
    combined: dict[str, list[Row]] = {}
    for row in axes.rows:
        combined.setdefault(", ".join(_label(k, row) for k in other_columns), []).append(row)
    grids = [
        grid(
            _cells(rows, (x, columns), (y, lines), _scaled_value(point_column)),
            [*map(short_time, columns)],
            [*map(short_time, lines)],
            ", ".join(part for part in (axes.title(rows, ""), label) if part),
            head(x),
            head(y),
            point_column.axis,
        )
        for label, rows in combined.items()
    ]
    return _with_common_scale(grids)


def _scaled_value(point_column: PointColumn) -> Callable[[Row], float | None]:
    return lambda row: row[point_column.key] and row[point_column.key] / point_column.scale


def _values(rows: Sequence[Row], key: str) -> list[str]:
    """Returns the column's values, sorted if they are numbers."""
    values = list(dict.fromkeys(row.get(key) for row in rows))
    return [
        str(value) for value in (sorted(values, key=_value) if _all_numeric(values) else values)
    ]


def _cells(
    rows: Sequence[Row],
    across: tuple[str, Sequence[str]],
    up: tuple[str, Sequence[str]],
    value_of: Callable[[Row], float | None],
) -> list[list[float | None]]:
    (x, columns), (y, lines) = across, up
    cells = {(str(row.get(x)), str(row.get(y))): value_of(row) for row in rows}
    return [[cells.get((column, line)) for column in columns] for line in lines]


def _with_common_scale(grids: Sequence[Grid]) -> list[Panel]:
    values = [v for grid in grids for row in grid.values for v in row if v is not None]
    span = (min(values), max(values)) if values else None
    return [replace(grid, span=span) for grid in grids]
