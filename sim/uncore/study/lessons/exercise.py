"""The exercise of a lesson, checked: the reader's program is run, and each bound is looked at."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from uncore.execution.request import find_program
from uncore.study.explore.formula import Constraint
from uncore.study.lessons.figures import UNKNOWN, figures, job
from uncore.study.lessons.text import Lesson


class Bound(NamedTuple):
    says: str
    bound: str  # as the lesson writes it
    got: float | None  # None: a run lacks a figure of this side
    wanted: float | None
    kept: bool
    why: str  # it is not kept although nothing is too small: which figure or parameter is lacking


def check(lesson: Lesson, program: str, parameters: Mapping[str, str]) -> list[Bound]:
    """`program`: the name of a workload, a .c or an .elf file."""
    if strange := _strange(lesson, program):
        return [strange]
    runs = {
        name: job(words.replace("{program}", program), parameters if "{program}" in words else None)
        for name, words in lesson.exercise.runs.items()
    }
    values = figures(runs)
    return [_bound(lesson, says, bound, values) for says, bound in lesson.exercise.must.items()]


def _strange(lesson: Lesson, program: str) -> Bound | None:
    """A program that is not made from the one to begin from, and so does not do the task."""
    exercise = lesson.exercise
    has = {param.name for param in find_program(program).params}
    if not (lacking := [name for name in exercise.keeps if name not in has]):
        return None
    why = (
        f"{program} has no parameter {', '.join(lacking)}; begin with workloads/{exercise.start}.c"
    )
    keeps, kept = len(exercise.keeps), len(exercise.keeps) - len(lacking)
    says = f"it is made from {exercise.start}, and keeps its parameters"
    return Bound(says, ", ".join(exercise.keeps), kept, keeps, False, why)


def _bound(lesson: Lesson, says: str, words: str, values: Mapping[str, float | None]) -> Bound:
    """A bound that has no figure is not kept."""
    read = Constraint.read(words, f"docs/lessons/{lesson.name}.md")
    lacking = [name for name in sorted(read.names) if name in values and values[name] is None]
    known = {name: value for name, value in values.items() if value is not None}
    less, more = (
        None if side.names & set(lacking) else side.value(known) for side in (read.less, read.more)
    )
    got, limit = (less, more) if "<=" in words else (more, less)
    kept = less is not None and more is not None and less <= more
    why = (f"{name} is not known: {UNKNOWN[name.rpartition('.')[2]]}" for name in lacking)
    return Bound(says, words, got, limit, kept, "; ".join(why))
