"""Puts the stepper's page together: one file, which asks nobody for anything.

The page's policy forbids every request, so that a mistake here is an error there and no leak.
"""

from __future__ import annotations

import html
import json
import re
from pathlib import Path

from uncore.files import write_whole
from uncore.report.stepper.data import document
from uncore.trace import Trace

HERE = Path(__file__).parent
SCRIPTS = ("model.js", "words.js", "machine.js", "chart.js", "lists.js", "main.js")


def write(path: Path, trace: Trace, command: str) -> None:
    write_whole(path, page(trace, command))


def page(trace: Trace, command: str) -> str:
    data = document(trace, command)
    script = "\n".join((HERE / name).read_text() for name in SCRIPTS)
    parts = {
        "TITLE": html.escape(data["title"]),
        "STYLE": (HERE / "stepper.css").read_text(),
        "SCRIPT": f"'use strict';\n(() => {{\n{script}}})();\n",
        "DATA": json.dumps(data, separators=(",", ":"), ensure_ascii=False).replace("<", "\\u003c"),
    }
    empty = (HERE / "stepper.html").read_text()
    return re.sub("@([A-Z]+)@", lambda place: parts[place[1]], empty)
