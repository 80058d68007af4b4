"""Draws the curves of a result table: simulated ones, and measured ones dashed.

    pictures(name, rows, drawing) -> [Picture]

The rows come from an experiment, or from a CSV file, whose numbers are text.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from uncore.drawing import plot
from uncore.drawing.plot import MEASURED_SUFFIX, Panel
from uncore.drawing.table import Row
from uncore_lab.validate.section import ReportPicture


class Drawing(NamedTuple):
    """The columns of a table that select its pictures, panels, lines and axes."""

    pictures: Sequence[str]  # one picture for each combination of these columns' values
    panel: str  # one panel of a picture for each value of this column
    line: str  # one simulated and one measured line for each value of this column
    x: str
    simulated: str
    measured: str
    heads: tuple[str, str]  # titles of the x and y axes


def pictures(name: str, rows: Iterable[Row], drawing: Drawing) -> list[ReportPicture]:
    return [
        ReportPicture(
            "-".join([name, *key]),
            " ".join([name, *_settings(drawing.pictures, key)])
            + ": simulated and, dashed, measured",
            [
                _panel(panel, lines, drawing)
                for (panel,), lines in _groups(picture_rows, [drawing.panel])
            ],
        )
        for key, picture_rows in _groups(rows, drawing.pictures)
    ]


def _settings(columns: Sequence[str], key: Sequence[str]) -> str:
    return ", ".join(f"{column} {value}" for column, value in zip(columns, key, strict=True))


def _panel(title: str, rows: Sequence[Row], drawing: Drawing) -> Panel:
    lines: dict[str, list[tuple[float, float]]] = {}
    for (label,), line_rows in _groups(rows, [drawing.line]):
        lines[label] = [_point(row, drawing.x, drawing.simulated) for row in line_rows]
        lines[label + MEASURED_SUFFIX] = [
            _point(row, drawing.x, drawing.measured) for row in line_rows
        ]
    dashed = [label for label in lines if label.endswith(MEASURED_SUFFIX)]
    return plot.curves(lines, title, *drawing.heads, dashed)


def _point(row: Row, x: str, y: str) -> tuple[float, float]:
    return float(row[x]), float(row[y])


def _groups(rows: Iterable[Row], columns: Sequence[str]) -> list[tuple[tuple[str, ...], list[Row]]]:
    groups: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(str(row[column]) for column in columns), []).append(row)
    return list(groups.items())
