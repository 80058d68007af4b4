"""Reads the text of a lesson: Markdown with fenced blocks, which are executed.

    read("ticket") -> Lesson(name, title, parts)     parts: str, Run, Predict, ...

A run in a block is a text such as "ccx:4x8 lock/ticket 32 hold=50ns": machine, workload, threads
and parameters. A name with a dot (core.fence=0ns) is a key of the machine. Bounds and answers are
formulas (explore/formula.py) of figures of the runs, each of which has a name in the block.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec
from msgspec import Struct

from uncore.errors import UserError, suggestion
from uncore.support import paths

FENCED_BLOCK_PATTERN = re.compile(
    r"^```(run|predict|watch|exercise|teach)\n(.*?)^```$", re.MULTILINE | re.DOTALL
)


class Run(Struct, frozen=True, forbid_unknown_fields=True):
    """A command whose output is shown, with `picture` also as curves."""

    command: str
    picture: bool = False


class Predict(Struct, frozen=True, forbid_unknown_fields=True):
    """A question that the reader answers before the result of the run is shown.

    A prediction is near enough if it differs from the answer at most by the factor `within`.
    """

    ask: str
    answer: str  # formula of the answer
    because: str
    runs: Mapping[str, str]
    unit: str = ""
    within: float = 1.5


class Watch(Struct, frozen=True, forbid_unknown_fields=True):
    """A run to watch in the stepper, which opens with this line and at this moment (moment.py)."""

    run: str
    line: str
    moment: str
    say: str


class Exercise(Struct, frozen=True, forbid_unknown_fields=True):
    """An exercise: the task, and bounds for figures of the reader's program.

    In the runs, {program} stands for the reader's program. `keeps` are parameters of the workload
    `start` that the reader's program must still have; without them it would solve another task.
    """

    ask: str
    start: str  # name of the workload from which the reader starts
    must: Mapping[str, str]  # description -> bound, as a formula
    runs: Mapping[str, str]
    keeps: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()


class TeacherNotes(Struct, frozen=True, forbid_unknown_fields=True):
    """Text for the teacher's page: minutes needed, questions, and usual wrong answers."""

    minutes: int
    ask: tuple[str, ...]
    wrong: Mapping[str, str]  # a usual wrong answer -> what the teacher replies


Part = str | Run | Predict | Watch | Exercise | TeacherNotes
PART_TYPES: Mapping[str, Any] = {
    "run": Run,
    "predict": Predict,
    "watch": Watch,
    "exercise": Exercise,
    "teach": TeacherNotes,
}


@dataclass(frozen=True)
class Lesson:
    name: str
    title: str
    parts: tuple[Part, ...]

    @property
    def exercise(self) -> Exercise:
        return next(part for part in self.parts if isinstance(part, Exercise))

    @property
    def teach(self) -> TeacherNotes:
        return next(part for part in self.parts if isinstance(part, TeacherNotes))

    @property
    def predictions(self) -> list[Predict]:
        return [part for part in self.parts if isinstance(part, Predict)]


def names() -> list[str]:
    """Returns the names of all lessons, in the order of docs/lessons/README.md."""
    listed = (paths.LESSONS / "README.md").read_text()
    return re.findall(r"\]\((\w+)\.md\)", listed)


def read(name: str) -> Lesson:
    if name not in names():
        raise UserError(
            f"no lesson is called '{name}'.{suggestion(name, names())}"
            f" There are {', '.join(names())}"
        )
    text = (paths.LESSONS / f"{name}.md").read_text()
    head, _, body = text.partition("\n")
    return Lesson(name, head.removeprefix("# "), tuple(_parts(name, body)))


def _parts(name: str, text: str) -> Iterator[Part]:
    pieces = FENCED_BLOCK_PATTERN.split(text)
    yield pieces[0]
    for kind, block, after in zip(pieces[1::3], pieces[2::3], pieces[3::3], strict=True):
        try:
            part: Part = msgspec.toml.decode(block, type=PART_TYPES[kind])
        except (msgspec.DecodeError, ValueError) as error:
            raise UserError(f"docs/lessons/{name}.md: block '{kind}': {error}") from None
        yield part
        yield after
