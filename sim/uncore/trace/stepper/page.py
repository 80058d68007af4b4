"""Puts the stepper's page together.

page(trace, command) -> str
empty() -> str               with the places TITLE and DATA left, which a playground fills
"""

from __future__ import annotations

import html
from pathlib import Path

from uncore.drawing import standalone
from uncore.drawing.standalone import data, filled
from uncore.support.output_files import write_whole
from uncore.trace import Trace
from uncore.trace.stepper.data import document

HERE = Path(__file__).parent
SCRIPTS = (
    *("model.js", "sentences.js", "labels.js", "machine.js", "chart.js", "lists.js"),
    "main.js",
)


def write(path: Path, trace: Trace, command: str) -> None:
    write_whole(path, page(trace, command))


def page(trace: Trace, command: str) -> str:
    content = document(trace, command)
    return filled(empty(), TITLE=html.escape(content["title"]), DATA=data(content))


def empty() -> str:
    script = "\n".join((HERE / name).read_text() for name in SCRIPTS)
    body, style = ((HERE / f"stepper.{kind}").read_text() for kind in ("html", "css"))
    return standalone.page("@TITLE@", body, style, script)
