"""Assembles the page of the stepper.

page(traces, command) -> str     a page of one run, or of two runs that are stepped together
empty() -> str                   the page with the placeholders TITLE and DATA, for other pages
script() -> str                  the scripts of the page
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from uncore.drawing import standalone
from uncore.drawing.standalone import filled, packed
from uncore.job import Job
from uncore.job.schema import options
from uncore.support.output_files import write_whole
from uncore.trace import Trace
from uncore.trace.stepper.data import document

MAX_EXACT_INTEGER = 2**53  # JavaScript represents integers up to this one exactly
AXIS_NAMES = [name for name, option in options(Job).items() if option.axis and option.form.word]
HERE = Path(__file__).parent
COMMON_SCRIPTS = ("common.js", "labels.js", "unpack.js", "partings.js")
RUN_SCRIPTS = (
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
        names = _distinct_names([trace.job for trace in traces])
        title = " and ".join(names)
        documents = [
            run_document | {"name": name}
            for run_document, name in zip(documents, names, strict=True)
        ]
    data = packed([_compact(run_document) for run_document in documents])
    return filled(empty(), TITLE=html.escape(title), DATA=data)


def empty() -> str:
    body, style = ((HERE / f"stepper.{kind}").read_text() for kind in ("html", "css"))
    return standalone.page("@TITLE@", body, style, script())


def script() -> str:
    """Joins the scripts of the page.  Those of a run become the body of a function, so that two
    runs share no state.
    """
    run_function = f"function runOf(D, $) {{\n{_text(RUN_SCRIPTS)}\nreturn run;\n}}"
    return "\n".join(
        [standalone.shared("sorted.js"), _text(COMMON_SCRIPTS), run_function, _text(("main.js",))]
    )


def _text(names: Sequence[str]) -> str:
    return "\n".join((HERE / name).read_text() for name in names)


def _distinct_names(jobs: Sequence[Job]) -> list[str]:
    """Names each job by the options in which the jobs differ, or by its workload if they do not
    differ.
    """
    words = [_words(job) for job in jobs]
    common_keys = [key for key in words[0] if all(key in named for named in words)]
    differ = [key for key in common_keys if len({named[key] for named in words}) > 1]
    return [" ".join(named[key] for key in differ or ("workload",)) for named in words]


def _words(job: Job) -> dict[str, str]:
    settings = {name: f"{name}={value}" for name, value in (*job.overrides, *job.parameters)}
    return {
        "workload": job.program.name,
        "machine": job.machine.id,
        **{name: str(getattr(job, name)) for name in AXIS_NAMES},
        **settings,
        "protocol": job.machine.protocol.upper(),
    }


def _compact(document: dict[str, Any]) -> dict[str, Any]:
    """Converts a document to a form that takes less space; unpack.js restores it.

    Tables are written by column. A column of integers is written as differences from the previous
    value, which are small because times and numbers of requests ascend. The way of a message is
    written as the number of its route, the time on each link, and the wait for each link.
    """
    tables = {
        name: [_column(column) for column in zip(*rows, strict=True)]
        for name, rows in document["tables"].items()
    }
    return document | {"tables": tables, "ways": _ways(document["ways"])}


def _column(values: Sequence[Any]) -> dict[str, list[int]] | Sequence[Any]:
    if not all(isinstance(value, int) and abs(value) < MAX_EXACT_INTEGER for value in values):
        return values
    return {"differences": [b - a for a, b in pairwise((0, *values))]}


def _ways(ways: Sequence[Sequence[Sequence[int]]]) -> dict[str, Any]:
    """Converts the ways of messages; leaves out the first time, at which the message is sent."""
    numbers: dict[tuple[int, ...], int] = {}
    return {
        "of": [numbers.setdefault(tuple(stops), len(numbers)) for stops, _, _ in ways],
        "routes": list(numbers),
        "took": [b - a for _, times, _ in ways for a, b in pairwise(times)],
        "waited": [wait for _, _, waits in ways for wait in waits],
    }
