"""Checks the exercise of a lesson: runs the reader's program, compares its figures with bounds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from uncore.execution.request import find_program
from uncore.study.explore.formula import Constraint
from uncore.study.lessons.figures import UNKNOWN_REASONS, figures, job
from uncore.study.lessons.text import Lesson


class Bound(NamedTuple):
    says: str
    bound: str  # the formula, as the lesson writes it
    got: float | None  # value of the left side; None: a run lacks one of its figures
    wanted: float | None  # value of the right side
    kept: bool
    # reason why the bound cannot be checked (a missing figure or parameter); "": it can
    why: str


def check(lesson: Lesson, program: str, parameters: Mapping[str, str]) -> list[Bound]:
    """Checks each bound of the exercise. `program` is a workload's name, or a .c or .elf file."""
    if failed_bound := _missing_parameters(lesson, program):
        return [failed_bound]
    runs = {
        name: job(words.replace("{program}", program), parameters if "{program}" in words else None)
        for name, words in lesson.exercise.runs.items()
    }
    values = figures(runs)
    return [_bound(lesson, says, bound, values) for says, bound in lesson.exercise.must.items()]


def _missing_parameters(lesson: Lesson, program: str) -> Bound | None:
    """Returns a failed bound if the program lacks parameters that the exercise requires."""
    exercise = lesson.exercise
    parameter_names = {param.name for param in find_program(program).params}
    if not (missing := [name for name in exercise.keeps if name not in parameter_names]):
        return None
    why = (
        f"{program} has no parameter {', '.join(missing)}; begin with workloads/{exercise.start}.c"
    )
    wanted_count, kept_count = len(exercise.keeps), len(exercise.keeps) - len(missing)
    says = f"it is made from {exercise.start}, and keeps its parameters"
    return Bound(says, ", ".join(exercise.keeps), kept_count, wanted_count, False, why)


def _bound(lesson: Lesson, says: str, words: str, values: Mapping[str, float | None]) -> Bound:
    """Evaluates one bound. A bound that needs an unknown figure counts as not kept."""
    constraint = Constraint.read(words, f"docs/lessons/{lesson.name}.md")
    missing = [name for name in sorted(constraint.names) if name in values and values[name] is None]
    known = {name: value for name, value in values.items() if value is not None}
    lesser, greater = (
        None if side.names & set(missing) else side.value(known)
        for side in (constraint.lesser, constraint.greater)
    )
    got, limit = (lesser, greater) if "<=" in words else (greater, lesser)
    kept = lesser is not None and greater is not None and lesser <= greater
    why = (f"{name} is not known: {UNKNOWN_REASONS[name.rpartition('.')[2]]}" for name in missing)
    return Bound(says, words, got, limit, kept, "; ".join(why))
