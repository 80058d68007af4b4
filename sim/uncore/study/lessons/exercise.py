"""The exercise of a lesson, checked: the reader's program is run, and each bound is looked at."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from uncore.study.explore.formula import Constraint
from uncore.study.lessons.figures import figures, job
from uncore.study.lessons.text import Lesson


class Bound(NamedTuple):
    says: str
    bound: str  # as it is written
    got: float
    wanted: float
    kept: bool


def check(lesson: Lesson, program: str, parameters: Mapping[str, str]) -> list[Bound]:
    """`program`: the name of a workload, a .c or an .elf file."""
    runs = {
        name: job(words.replace("{program}", program), parameters if "{program}" in words else None)
        for name, words in lesson.exercise.runs.items()
    }
    values = figures(runs)
    return [_bound(lesson, says, bound, values) for says, bound in lesson.exercise.must.items()]


def _bound(lesson: Lesson, says: str, words: str, values: Mapping[str, float]) -> Bound:
    read = Constraint.read(words, f"docs/lessons/{lesson.name}.md")
    less, more = read.less.value(values), read.more.value(values)
    got, limit = (less, more) if "<=" in words else (more, less)
    return Bound(says, words, got, limit, less <= more)
