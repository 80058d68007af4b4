"""Tables and pictures in Markdown, from which pages of results are made."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from uncore.drawing import plot
from uncore.drawing.table import Column, Row, cells
from uncore_lab.validate.section import ReportPicture

DPI = 60  # resolution of pictures in a page: many of them, side by side


def table(rows: Sequence[Row], columns: Sequence[Column]) -> str:
    """The table as `emit` prints it: columns without any known value are left out."""
    shown, lines = cells(rows, columns)
    heads = [column.head for column in shown]
    return grid(heads, lines, [column.left for column in shown])


def plain(rows: Sequence[Row]) -> str:
    """The table with every column of a file of results, under its name."""
    columns = [Column(name, name, lambda v: str(v), left=_words(rows, name)) for name in rows[0]]
    return table(rows, columns)


def grid(heads: Sequence[str], lines: Iterable[Sequence[str]], left: Sequence[bool]) -> str:
    ruler = ["---" if side else "---:" for side in left]
    return "\n".join(f"| {' | '.join(line)} |" for line in [heads, ruler, *lines]) + "\n"


def bullets(lines: Iterable[str]) -> str:
    return "\n".join(f"* {line}" for line in lines) + "\n"


def picture(drawn: ReportPicture, folder: Path) -> str:
    """Draws the picture into the page's folder; a click on it shows it alone, in full size."""
    file = plot.picture(folder / f"{drawn.name}.png", *drawn.panels, dpi=DPI)
    return f"[![{drawn.caption}]({file.name})]({file.name})\n"


def _words(rows: Sequence[Row], name: str) -> bool:
    return any(
        not str(row[name]).lstrip("-").replace(".", "").isdigit() for row in rows if row[name]
    )
