"""Writes an HTML page that can be sent, with the table, notes and pictures of every experiment.

write(path, sections, command)      `command` is the command line that writes the page again
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path

from uncore.drawing import sections as document
from uncore_lab.validate.section import Section


def write(path: Path, sections: Sequence[Section], command: str) -> None:
    report_sections = [
        document.ReportSection(s.title, document.table(s.rows, s.columns) + _beneath(s), s.prose)
        for s in sections
    ]
    repeat_section = document.ReportSection("How to repeat it", f"<pre>{escape(command)}</pre>")
    document.write(
        path, "Validation", "Simulated against measured.", [*report_sections, repeat_section]
    )


def _beneath(section: Section) -> str:
    lines = [f"Past its bound: {message}" for message in section.exceeded] + section.lines
    notes = "".join(f"<li>{document.prose(line)}</li>" for line in lines)
    pictures = [
        f"<h3>{escape(picture.caption)}</h3>{document.figure(picture.panels)}"
        for picture in section.pictures
    ]
    return (f"<ul>{notes}</ul>" if notes else "") + "".join(pictures)
