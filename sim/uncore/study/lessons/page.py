"""The page of a lesson: one file, which asks nobody for anything.

Steppers are inside it, compressed, and shown where they are asked for; the reader's prediction is
compared in the page with what the run gave.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
from functools import singledispatch
from html import escape
from pathlib import Path

from markdown_it import MarkdownIt

from uncore.drawing import standalone
from uncore.errors import UserError
from uncore.study.explore.formula import Formula
from uncore.study.lessons.figures import figures, job
from uncore.study.lessons.moment import at
from uncore.study.lessons.text import Exercise, Lesson, Predict, Run, Watch, read
from uncore.support.output_files import write_whole
from uncore.trace import MEASURED, Window, record
from uncore.trace.stepper.page import empty
from uncore.trace.stepper.page import page as stepper

HERE = Path(__file__).parent
COLUMNS = "100"


def write(path: Path, name: str, home: str = "") -> None:
    """`home`: the page of all lessons, where this one stands among them."""
    lesson = read(name)
    with tempfile.TemporaryDirectory() as folder:  # in which its commands find each other's files
        body = "\n".join(shown(part, lesson, Path(folder)) for part in lesson.parts)
    frame, style, script = map(_text, ("html", "css", "js"))
    text = standalone.filled(
        frame,
        TITLE=escape(lesson.title),
        HOME=f'<a href="{escape(home)}">all lessons</a>' if home else "",
        BODY=body,
        AGAIN=escape(f"uncore lesson page {name} --output {path.name}"),
    )
    page = standalone.page(
        lesson.title, text, style, script, inner=empty(), allowed="; frame-src blob:"
    )
    write_whole(path, page)


def _text(kind: str) -> str:
    return (HERE / f"lesson.{kind}").read_text()


def _prose(text: str) -> str:
    return str(MarkdownIt("commonmark", {"html": False}).enable("table").render(text))


@singledispatch
def shown(part: object, lesson: Lesson, folder: Path) -> str:
    """The part as HTML."""
    return _prose(str(part))


@shown.register
def _(part: Run, lesson: Lesson, folder: Path) -> str:
    """What a reader sees who types it; its curves beside, where it has a picture."""
    drawn = folder / "curves.svg"
    words = shlex.split(part.command) + ([f"--plot={drawn}"] if part.picture else [])
    surroundings = os.environ | {"COLUMNS": COLUMNS}
    done = subprocess.run(
        [sys.executable, "-m", *words], capture_output=True, text=True, env=surroundings, cwd=folder
    )
    if done.returncode:
        raise UserError(f"docs/lessons/{lesson.name}.md: {part.command}: {done.stderr.strip()}")
    picture = standalone.drawn(drawn.read_text(), "curves") if part.picture else ""
    output = f"$ {part.command}\n{done.stdout.strip()}"
    label = f'tabindex="0" role="region" aria-label="{escape(part.command)}"'
    return f"{picture}<pre {label}>{escape(output)}</pre>"


@shown.register
def _(part: Predict, lesson: Lesson, folder: Path) -> str:
    known = figures({name: job(words) for name, words in part.runs.items()})
    answer = Formula.read(part.answer, f"docs/lessons/{lesson.name}.md").value(known)
    said = f"{answer:.3g} {part.unit}".strip()
    return f"""<form class="predict" data-answer="{answer:.6g}" data-within="{part.within}">
<h3>Predict</h3>{_prose(part.ask)}
<p><label>I say <input inputmode="decimal" required> {escape(part.unit)}</label>
<button>compare</button></p>
<p role="status"></p>
<div class="after" hidden><p>The run gave <b>{escape(said)}</b>.</p>{_prose(part.because)}</div>
</form>"""


@shown.register
def _(part: Watch, lesson: Lesson, folder: Path) -> str:
    made = job(part.run)
    trace = record(made, Window(around=MEASURED))
    when, line = at(trace, part.line, part.moment)
    machine, workload, threads, *values = part.run.split()
    sets = "".join(f" --set {value}" for value in values)
    command = f"uncore watch {machine} {workload} --threads {threads}{sets} --output w.html"
    packed = standalone.packed(stepper([trace], command))
    place = f"#t={when}&line={line:#x}"
    return f"""<section class="watch" data-page="{packed}" data-place="{escape(place)}">
<h3>Watch</h3>{_prose(part.say)}
<p><button type="button">open the stepper at that moment</button>
<a target="_blank" hidden>open alone</a></p>
<p class="soft">Or: <code>{escape(command)}</code>, then <code>{escape(place)}</code> behind its
address.</p></section>"""


@shown.register
def _(part: Exercise, lesson: Lesson, folder: Path) -> str:
    bounds = "".join(
        f"<li>{escape(says)} <code>{escape(bound)}</code></li>" for says, bound in part.must.items()
    )
    runs = "".join(
        f"<li><b>{escape(name)}</b>: <code>{escape(words)}</code></li>"
        for name, words in part.runs.items()
    )
    hints = "".join(
        f"<details><summary>hint {n}</summary>{_prose(text)}</details>"
        for n, text in enumerate(part.hints, 1)
    )
    return f"""<section class="exercise"><h3>Exercise</h3>{_prose(part.ask)}
<pre tabindex="0">cp workloads/{escape(part.start)}.c mine.c
uncore lesson check {escape(lesson.name)} mine.c</pre>
<p>It holds when</p><ul>{bounds}</ul><p>with</p><ul>{runs}</ul>{hints}</section>"""
