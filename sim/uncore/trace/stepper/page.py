"""Puts the stepper's page together.

page(traces, command) -> str     of one run, or of two that are stepped together
empty() -> str                   with the places TITLE and DATA left, which a playground fills
script() -> str                  what a page runs
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from pathlib import Path

from uncore.drawing import standalone
from uncore.drawing.standalone import filled, packed
from uncore.support.output_files import write_whole
from uncore.trace import Trace
from uncore.trace.stepper.compact import compact
from uncore.trace.stepper.data import document
from uncore.trace.stepper.pair import apart

HERE = Path(__file__).parent
COMMON = ("common.js", "labels.js", "unpack.js", "partings.js")
OF_RUN = (
    "model.js",
    "sentences.js",
    "machine.js",
    "chart.js",
    "lists.js",
    "links.js",
    "diagram.js",
    "view.js",
)


def write(path: Path, traces: Sequence[Trace], command: str) -> None:
    write_whole(path, page(traces, command))


def page(traces: Sequence[Trace], command: str) -> str:
    documents = [document(trace, command) for trace in traces]
    title = documents[0]["title"]
    if len(traces) > 1:
        names = apart([trace.job for trace in traces])
        title = " and ".join(names)
        documents = [one | {"name": name} for one, name in zip(documents, names, strict=True)]
    data = packed([compact(one) for one in documents])
    return filled(empty(), TITLE=html.escape(title), DATA=data)


def empty() -> str:
    body, style = ((HERE / f"stepper.{kind}").read_text() for kind in ("html", "css"))
    return standalone.page("@TITLE@", body, style, script())


def script() -> str:
    """The scripts of a run are the body of a function, so that two of them share no state."""
    of_run = f"function runOf(D, $) {{\n{_text(OF_RUN)}\nreturn run;\n}}"
    return "\n".join([standalone.shared("sorted.js"), _text(COMMON), of_run, _text(("main.js",))])


def _text(names: Sequence[str]) -> str:
    return "\n".join((HERE / name).read_text() for name in names)
