"""Writes the pages of a lesson, for readers and for teachers. Each is one self-contained file.

The page contains its steppers in compressed form and shows them on demand. Its script compares the
reader's prediction with the result of the run. As slides (lesson.js), the page shows only the first
sentence of each paragraph; the teacher says the rest.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from functools import cache, singledispatch
from html import escape
from pathlib import Path

from markdown_it import MarkdownIt

from uncore.drawing import standalone
from uncore.errors import UserError
from uncore.study.explore.formula import Formula
from uncore.study.lessons.figures import figures, is_of_machine, job
from uncore.study.lessons.moment import find_moment
from uncore.study.lessons.text import Exercise, Lesson, Predict, Run, TeacherNotes, Watch, read
from uncore.support.output_files import write_whole
from uncore.trace import MEASURED, Window, record
from uncore.trace.stepper.page import empty
from uncore.trace.stepper.page import page as stepper

HERE = Path(__file__).parent
TERMINAL_COLUMNS = "100"
SENTENCE_END = re.compile(r"[.?!][*)]* (?=[A-Z`*])")
LIST_ITEM_PATTERN = re.compile(r"(?:\d+\.|\*) ")
# A first sentence that is shorter is only a label, so that the next sentence is shown as well.
MIN_SENTENCE_LETTERS = 25
REST_MARK = "\ue000"  # marks the end of a paragraph's first sentence; occurs in no text


def write(path: Path, name: str, home: str = "") -> None:
    """Writes the reader's page. `home` is the address of the page of all lessons; if it is "", the
    page has no links to other pages.
    """
    lesson, script = read(name), _text("js")
    # the commands of a lesson share this folder, so one can read the files of another
    with tempfile.TemporaryDirectory() as folder:
        body = "\n".join(shown(part, lesson, Path(folder)) for part in lesson.parts)
    button = '<button id="slides" type="button" title="slides or whole page (p)">slides</button>'
    pages = f'<a href="{escape(home)}">all lessons</a><a href="{name}-teacher.html">teacher</a>'
    links = pages * bool(home) + button
    text = _page(lesson.title, body, links, f"uncore lesson page {name} --output {path.name}")
    page = standalone.page(
        lesson.title, text, _text("css"), script, inner=empty(), allowed="; frame-src blob:"
    )
    write_whole(path, page)


def write_teachers(path: Path, name: str) -> None:
    """Writes the teacher's page: questions with answers, results of the runs, and hints."""
    lesson = read(name)
    teach, source = lesson.teach, f"docs/lessons/{name}.md"
    predictions = [
        f"<tr><td>{_prose(part.ask)}</td><td><b>{_answer(part, source)[1]}</b></td>"
        f"<td>{_prose(part.because)}</td></tr>"
        for part in lesson.predictions
    ]
    wrong_answers = (
        f"<tr><td>{_prose(answer)}</td><td>{_prose(reply)}</td></tr>"
        for answer, reply in teach.wrong.items()
    )
    hints = "".join(f"<li>{_prose(hint)}</li>" for hint in lesson.exercise.hints)
    body = (
        f"<p>{teach.minutes} minutes, with the exercise begun and finished at home."
        " The key P shows the lesson's page as slides.</p>"
        f"<h2>Ask</h2><ol>{''.join(f'<li>{_prose(ask)}</li>' for ask in teach.ask)}</ol>"
        f"<h2>Usual wrong answers</h2><table class='answers'>{''.join(wrong_answers)}</table>"
        f"<h2>Predictions</h2><table class='answers'>{''.join(predictions)}</table>"
        f"<h2>Exercise</h2>{_prose(lesson.exercise.ask)}<ul>{hints}</ul>"
    )
    title = f"For the teacher: {lesson.title}"
    text = _page(title, body, "", f"uncore lesson teach {name} --output {path.name}")
    write_whole(path, standalone.page(title, text, _text("css"), _text("js")))


def _page(title: str, body: str, links: str, command: str) -> str:
    return standalone.filled(
        _text("html"), TITLE=escape(title), LINKS=links, BODY=body, AGAIN=escape(command)
    )


def _text(suffix: str) -> str:
    return (HERE / f"lesson.{suffix}").read_text()


def _prose(text: str) -> str:
    """Converts Markdown to HTML, in which the rest of a paragraph after its first sentence is
    marked.
    """
    marked = "\n".join(map(_marked_rest, text.split("\n")))
    html = str(MarkdownIt("commonmark", {"html": False}).enable("table").render(marked))
    return re.sub(f"{REST_MARK}(.*?)(</p>|</li>)", r'<span class="rest">\1</span>\2', html)


def _marked_rest(line: str) -> str:
    """Puts REST_MARK after the first sentence of a paragraph, which is a single line."""
    if line.startswith("|"):
        return line
    item = LIST_ITEM_PATTERN.match(line)
    begin = item.end() if item else 0
    for end in SENTENCE_END.finditer(line, begin):
        first = line[begin : end.end() - 1]
        if len(first) >= MIN_SENTENCE_LETTERS and not any(
            first.count(mark) % 2 for mark in ("`", "*")
        ):
            return f"{line[:begin]}{first} {REST_MARK}{line[end.end() :]}"
    return line


def _answer(part: Predict, source: str) -> tuple[float, str]:
    """Returns the answer to a question, computed from its runs, as a number and as a text with its
    unit.
    """
    all_figures = _figures(tuple(part.runs.items()))
    known_figures = {name: value for name, value in all_figures.items() if value is not None}
    answer = Formula.read(part.answer, source).value(known_figures)
    return answer, f"{answer:.3g} {part.unit}".strip()


@cache
def _figures(runs: tuple[tuple[str, str], ...]) -> Mapping[str, float | None]:
    """Returns the figures of runs. They are cached, because both pages of a lesson need them."""
    return figures({name: job(words) for name, words in runs})


@singledispatch
def shown(part: object, lesson: Lesson, folder: Path) -> str:
    """Returns a part of a lesson as HTML. Its commands run in `folder`."""
    return _prose(str(part))


@shown.register
def _(part: Run, lesson: Lesson, folder: Path) -> str:
    """Runs the command; returns its output and, if requested, a picture of its curves."""
    picture_file = folder / "curves.svg"
    words = shlex.split(part.command) + ([f"--plot={picture_file}"] if part.picture else [])
    environment = os.environ | {"COLUMNS": TERMINAL_COLUMNS}
    finished = subprocess.run(
        [sys.executable, "-m", *words], capture_output=True, text=True, env=environment, cwd=folder
    )
    if finished.returncode:
        raise UserError(f"docs/lessons/{lesson.name}.md: {part.command}: {finished.stderr.strip()}")
    picture = standalone.figure_html(picture_file.read_text(), "curves") if part.picture else ""
    output = f"$ {part.command}\n{finished.stdout.strip()}"
    label = f'tabindex="0" role="region" aria-label="{escape(part.command)}"'
    return f"{picture}<pre {label}>{escape(output)}</pre>"


@shown.register
def _(part: Predict, lesson: Lesson, folder: Path) -> str:
    answer, result = _answer(part, f"docs/lessons/{lesson.name}.md")
    return f"""<form class="predict" data-answer="{answer:.6g}" data-within="{part.within}">
<h3>Predict</h3>{_prose(part.ask)}
<p><label>my prediction <input inputmode="decimal" required> {escape(part.unit)}</label>
<button>compare</button></p>
<p role="status"></p>
<div class="after" hidden><p>The run gave <b>{escape(result)}</b>.</p>{_prose(part.because)}</div>
</form>"""


@shown.register
def _(part: Watch, lesson: Lesson, folder: Path) -> str:
    watched_job = job(part.run)
    trace = record(watched_job, Window(around=MEASURED))
    when, line = find_moment(trace, part.line, part.moment)
    machine, workload, threads, *values = part.run.split()
    sets = "".join(
        f" {'--with' if is_of_machine(value.partition('=')[0]) else '--set'} {value}"
        for value in values
    )
    command = f"uncore watch {machine} {workload} --threads {threads}{sets} --output w.html"
    packed = standalone.packed(stepper([trace], command))
    place = f"#t={when}&line={line:#x}"
    return f"""<section class="watch" data-page="{packed}" data-place="{escape(place)}">
<h3>Watch</h3>{_prose(part.say)}
<p><button type="button">open the stepper at that moment</button>
<a target="_blank" hidden>open in a window of its own</a></p>
<p class="soft">Or run <code>{escape(command)}</code> and append <code>{escape(place)}</code> to the
address of the page.</p></section>"""


@shown.register
def _(part: TeacherNotes, lesson: Lesson, folder: Path) -> str:
    return ""  # shown on the teacher's page only


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
<p>The exercise is solved if</p><ul>{bounds}</ul><p>in these runs:</p><ul>{runs}</ul>{hints}
</section>"""
