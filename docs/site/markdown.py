"""Writes tables and pictures in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from uncore.drawing import plot
from uncore.drawing.table import Column, Row, cells
from uncore_lab.validate.section import ReportPicture

DPI = 60  # resolution of pictures, which stand side by side


def table(rows: Sequence[Row], columns: Sequence[Column]) -> str:
    """The table as Markdown. Columns without known values are left out, as in emit()."""
    shown_columns, lines = cells(rows, columns)
    heads = [column.head for column in shown_columns]
    return grid(heads, lines, [column.left for column in shown_columns])


def plain(rows: Sequence[Row]) -> str:
    """The rows as Markdown, with every column under its own name."""
    columns = [Column(name, name, lambda v: str(v), left=_words(rows, name)) for name in rows[0]]
    return table(rows, columns)


def grid(heads: Sequence[str], lines: Iterable[Sequence[str]], left: Sequence[bool]) -> str:
    ruler = ["---" if side else "---:" for side in left]
    return "\n".join(f"| {' | '.join(line)} |" for line in [heads, ruler, *lines]) + "\n"


def bullets(lines: Iterable[str]) -> str:
    return "\n".join(f"* {line}" for line in lines) + "\n"


def picture(report_picture: ReportPicture, folder: Path) -> str:
    """Saves the picture in the page's folder; returns Markdown that shows it, with a link to its
    file.
    """
    file = plot.picture(folder / f"{report_picture.name}.png", *report_picture.panels, dpi=DPI)
    return f"[![{report_picture.caption}]({file.name})]({file.name})\n"


def _words(rows: Sequence[Row], name: str) -> bool:
    return any(
        not str(row[name]).lstrip("-").replace(".", "").isdigit() for row in rows if row[name]
    )
