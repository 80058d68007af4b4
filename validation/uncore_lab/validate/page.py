"""docs/validation.md: every experiment's table, notes and pictures; or one HTML page to send.

Interface: `write(path, sections)`, pictures in a folder of its name beside the page; and
`markdown(section)`, a section's table.  `report(path, sections, command)`: all in one file.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path

from uncore.drawing import plot
from uncore.drawing.table import cells
from uncore.errors import UserError
from uncore.report.document import page as document
from uncore_lab.validate.section import Picture, Section

DPI = 60  # of pictures in a page: many of them, side by side

HEAD = """# Validation

Simulated against measured. This page is written by `uncore validate --all --page FILE`, or `--only
NAME` for the page of one experiment; change
`topologies/` (machines) or `validation/uncore_lab/figures/` (what was measured) instead.
"""


def write(path: Path, sections: Sequence[Section]) -> None:
    folder = path.with_suffix("")
    try:
        if any(section.pictures for section in sections):
            folder.mkdir(exist_ok=True)
        path.write_text("\n".join([HEAD, *(_section(s, folder) for s in sections)]))
    except OSError as error:
        raise UserError(f"{path}: cannot write the page: {error.strerror}") from None


def _section(section: Section, folder: Path) -> str:
    parts = [f"## {section.title}\n", f"{section.prose}\n", markdown(section)]
    if section.broken:
        parts += ["**Past its bound:**\n", *(f"* {message}" for message in section.broken), ""]
    if section.notes:
        parts += [*(f"* {note}" for note in section.notes), ""]
    parts += [_picture(picture, folder) for picture in section.pictures]
    return "\n".join(parts)


def report(path: Path, sections: Sequence[Section], command: str) -> None:
    shown = [
        document.Section(s.title, document.table(s.rows, s.columns) + _beneath(s), s.prose)
        for s in sections
    ]
    again = document.Section("How to repeat it", f"<pre>{escape(command)}</pre>")
    document.write(path, "Validation", "Simulated against measured.", [*shown, again])


def _beneath(section: Section) -> str:
    said = [f"Past its bound: {message}" for message in section.broken] + [*section.notes]
    notes = "".join(f"<li>{document.prose(note)}</li>" for note in said)
    pictures = [
        f"<h3>{escape(picture.caption)}</h3>{document.figure(picture.panels)}"
        for picture in section.pictures
    ]
    return (f"<ul>{notes}</ul>" if notes else "") + "".join(pictures)


def markdown(section: Section) -> str:
    heads, rows = cells(section.rows, section.columns)
    ruler = ["---" if column.left else "---:" for column in heads]
    lines = [[column.head for column in heads], ruler, *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def _picture(picture: Picture, folder: Path) -> str:
    file = plot.picture(folder / f"{picture.name}.png", *picture.panels, dpi=DPI)
    return f"![{picture.caption}]({folder.name}/{file.name})\n"
