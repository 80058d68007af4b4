"""Writes the page of a report, and formats tables, figures and prose for its sections, as HTML."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from typing import NamedTuple

from uncore.drawing import standalone
from uncore.drawing.panels import Curves, Panel
from uncore.drawing.plot import PANEL_SIZE_INCHES, picture
from uncore.drawing.table import Column, Row, cells
from uncore.support.output_files import write_whole

STYLE = Path(__file__).with_name("document.css")
# Two figures of this size fit side by side, and their letters are readable on a phone.
SMALL_FIGURE_INCHES = (5.0, 3.8)


class ReportSection(NamedTuple):
    head: str
    body: str  # HTML
    about: str = ""


def write(path: Path, title: str, about: str, sections: Iterable[ReportSection]) -> None:
    shown = [section for section in sections if section.body]
    links = " ".join(f'<a href="#{_anchor(s.head)}">{escape(s.head)}</a>' for s in shown)
    parts = "\n".join(map(_section, shown))
    body = f"""<header><h1>{escape(title)}</h1><p>{escape(about)}</p>
<nav aria-label="parts">{links}</nav></header>
<main>
{parts}
</main>"""
    write_whole(path, standalone.page(title, body, STYLE.read_text()))


def _anchor(head: str) -> str:
    return re.sub(r"\W+", "-", head.lower())


def _section(section: ReportSection) -> str:
    about = f"<p>{prose(section.about)}</p>" if section.about else ""
    head = f"<h2>{escape(section.head)}</h2>"
    return f'<section id="{_anchor(section.head)}">{head}{about}\n{section.body}</section>'


def prose(text: str) -> str:
    """Converts prose of docs/ to HTML: `words` become code. A link is replaced by its text, because
    the linked page is not in the report.
    """
    without_links = re.sub(r"\[([^]]+)\]\([^)]+\)", r"\1", escape(text))
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", without_links)


def table(rows: Sequence[Row], columns: Sequence[Column]) -> str:
    """Returns as HTML the table that `emit` would print; empty columns are left out."""
    if not rows:
        return ""
    shown, lines = cells(rows, columns)
    heads = "".join(map(_head, shown))
    body = "\n".join(
        "<tr>"
        + "".join(f"<td{_alignment(c)}>{escape(v)}</td>" for c, v in zip(shown, line, strict=True))
        + "</tr>"
        for line in lines
    )
    return (
        f'<div class="wide" tabindex="0"><table><thead><tr>{heads}</tr></thead>\n'
        f"<tbody>{body}</tbody></table></div>"
    )


def _head(column: Column) -> str:
    text = escape(f"{column.group} {column.head}".strip())
    return f'<th scope="col"{_alignment(column)} title="{escape(column.about)}">{text}</th>'


def _alignment(column: Column) -> str:
    return ' class="text"' if column.left else ""


def figure(panels: Sequence[Panel]) -> str:
    """Returns the panels as HTML, drawn as by `--plot`, side by side if they fit."""
    return f'<div class="figures">{"".join(map(_picture_html, panels))}</div>' if panels else ""


def _picture_html(panel: Panel) -> str:
    size = SMALL_FIGURE_INCHES if isinstance(panel, Curves) else PANEL_SIZE_INCHES
    with tempfile.TemporaryDirectory() as folder:
        svg = picture(Path(folder) / "panel.svg", panel, size=size).read_text()
    return standalone.figure_html(svg, panel.title)
