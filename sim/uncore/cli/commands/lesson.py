"""The command `lesson`: lists lessons, makes pages for readers and teachers, and checks
exercises.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from uncore.cli.options import Json, Set, note
from uncore.cli.status import FAILED, OK
from uncore.drawing.formats import EMPTY
from uncore.drawing.table import Column, emit
from uncore.errors import UserError
from uncore.job.option_values import check_outputs, pairs
from uncore.study import lessons
from uncore.support.output_kinds import PAGE


def _format_figure(value: float | None) -> str:
    return EMPTY if value is None else f"{value:.3g}"


LIST_COLUMNS = [Column("lesson", "name", left=True), Column("question", "title", left=True)]
ABOUT = (
    "lessons: uncore lesson page NAME --output FILE.html makes one's page, slides too (P);"
    " teach: its teacher's page; check NAME PROGRAM: its exercise"
)
COLUMNS = [
    Column("must", "says", left=True, about="requirement of the exercise"),
    Column(
        "bound", "bound", left=True, about="the requirement as a formula over figures of the runs"
    ),
    Column("got", "got", _format_figure, about="value with your program; -: the figure is missing"),
    Column("wanted", "wanted", _format_figure, about="value of the bound"),
    Column(
        "kept",
        "kept",
        lambda holds: "yes" if holds else "no",
        about="yes if the requirement is met",
    ),
]


def lesson(
    what: Annotated[
        Literal["list", "page", "teach", "check"],
        Parameter(
            help="list: names of lessons; page: write the lesson's page; teach: write the"
            " teacher's page; check: check an exercise"
        ),
    ] = "list",
    name: Annotated[str, Parameter(help="name of the lesson")] = "",
    program: Annotated[
        str, Parameter(help="with check: your .c or .elf file, or the name of a workload")
    ] = "",
    *,
    output: Annotated[
        Path | None, Parameter(help="with page and teach: the file to write (.html)")
    ] = None,
    set_: Set = [],  # noqa: B006
    json: Json = False,
) -> int:
    if what == "list":
        rows = [{"name": title, "title": lessons.read(title).title} for title in lessons.names()]
        emit(rows, json, LIST_COLUMNS, ABOUT)
        return OK
    if not name:
        raise UserError(f"lesson {what} needs a lesson: there are {', '.join(lessons.names())}")
    if what == "check":
        return _check(name, program, set_, json)
    return _page(name, output, what == "teach")


def _page(name: str, output: Path | None, for_teacher: bool) -> int:
    output = output or Path(f"{name}-teacher.html" if for_teacher else f"{name}.html")
    check_outputs({"--output": output}, {"--output": PAGE})
    (lessons.write_teachers if for_teacher else lessons.write)(output, name)
    note(f"page: {output}, {output.stat().st_size / 1e6:.1f} MB")
    return OK


def _check(name: str, program: str, set_: list[str], json: bool) -> int:
    lesson_ = lessons.read(name)
    if not program:
        raise UserError(
            f"lesson check {name} needs your program; begin with"
            f" cp workloads/{lesson_.exercise.start}.c mine.c"
        )
    bounds = lessons.check(lesson_, program, dict(pairs("--set", set_)))
    emit([bound._asdict() for bound in bounds], json, COLUMNS, f"{name}: {program}")
    for bound in bounds:
        if bound.why:
            note(f"not kept: {bound.says}: {bound.why}")
    return OK if all(bound.kept for bound in bounds) else FAILED
