"""Formats tables and pictures as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from uncore.drawing import plot
from uncore.drawing.table import Column, Row, cells
from uncore_lab.validate.section import ReportPicture

DPI = 60  # resolution of pictures; it is low, because they are side by side


def table(rows: Sequence[Row], columns: Sequence[Column]) -> str:
    """Returns a table as Markdown. Leaves out columns without known values, like emit()."""
    shown_columns, lines = cells(rows, columns)
    heads = [column.head for column in shown_columns]
    return grid(heads, lines, [column.left for column in shown_columns])


def plain(rows: Sequence[Row]) -> str:
    """Returns rows as Markdown, with all columns; the names of the columns are the heads."""
    columns = [Column(name, name, lambda v: str(v), left=_is_text(rows, name)) for name in rows[0]]
    return table(rows, columns)


def grid(heads: Sequence[str], lines: Iterable[Sequence[str]], left: Sequence[bool]) -> str:
    ruler = ["---" if side else "---:" for side in left]
    return "\n".join(f"| {' | '.join(line)} |" for line in [heads, ruler, *lines]) + "\n"


def bullets(lines: Iterable[str]) -> str:
    return "\n".join(f"* {line}" for line in lines) + "\n"


def picture(report_picture: ReportPicture, folder: Path) -> str:
    """Saves the picture in the folder of the page; returns Markdown that shows it and links to its
    file.
    """
    file = plot.picture(folder / f"{report_picture.name}.png", *report_picture.panels, dpi=DPI)
    return f"[![{report_picture.caption}]({file.name})]({file.name})\n"


def _is_text(rows: Sequence[Row], name: str) -> bool:
    return any(
        not str(row[name]).lstrip("-").replace(".", "").isdigit() for row in rows if row[name]
    )
