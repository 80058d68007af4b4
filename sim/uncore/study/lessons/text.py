"""A lesson as it is written: paragraphs of Markdown, and blocks that say what is done.

    read("ticket") -> Lesson(name, title, parts)     parts: str, Run, Predict, ...

A run within a block is words: "ccx:4x8 lock/ticket 32 hold=50ns" is machine, workload, threads and
parameters; a name with a dot (core.fence=0ns) is a number of the machine.  Bounds and answers are
formulas (explore/formula.py) of the figures of named runs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec
from msgspec import Struct

from uncore.errors import UserError, nearest
from uncore.support import paths

FENCED = re.compile(r"^```(run|predict|watch|exercise|teach)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Run(Struct, frozen=True, forbid_unknown_fields=True):
    """A command whose output is shown; with a picture of its curves, where it draws any."""

    command: str
    picture: bool = False


class Predict(Struct, frozen=True, forbid_unknown_fields=True):
    """A question that the reader answers before the run. An answer within this factor is near
    enough.
    """

    ask: str
    answer: str  # a formula
    because: str
    runs: Mapping[str, str]
    unit: str = ""
    within: float = 1.5


class Watch(Struct, frozen=True, forbid_unknown_fields=True):
    """A run to step through, opened at a moment of a line (moment.py)."""

    run: str
    line: str
    moment: str
    say: str


class Exercise(Struct, frozen=True, forbid_unknown_fields=True):
    """States what a program of the reader's must do in the run `yours`; {program} stands for it.

    `keeps` are parameters of the program that it begins from: who lacks one does something else.
    """

    ask: str
    start: str  # the workload to begin from
    must: Mapping[str, str]  # in words -> a bound
    runs: Mapping[str, str]
    keeps: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()


class Teach(Struct, frozen=True, forbid_unknown_fields=True):
    """Facts for a teacher beside the page: time needed, questions, and answers."""

    minutes: int
    ask: tuple[str, ...]
    wrong: Mapping[str, str]  # a usual wrong answer -> what to say to it


Part = str | Run | Predict | Watch | Exercise | Teach
KINDS: Mapping[str, Any] = {
    "run": Run,
    "predict": Predict,
    "watch": Watch,
    "exercise": Exercise,
    "teach": Teach,
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
    def teach(self) -> Teach:
        return next(part for part in self.parts if isinstance(part, Teach))

    @property
    def predictions(self) -> list[Predict]:
        return [part for part in self.parts if isinstance(part, Predict)]


def names() -> list[str]:
    """In the order in which they are best read."""
    listed = (paths.LESSONS / "README.md").read_text()
    return re.findall(r"\]\((\w+)\.md\)", listed)


def read(name: str) -> Lesson:
    if name not in names():
        raise UserError(
            f"no lesson is called '{name}'.{nearest(name, names())} There are {', '.join(names())}"
        )
    text = (paths.LESSONS / f"{name}.md").read_text()
    head, _, rest = text.partition("\n")
    return Lesson(name, head.removeprefix("# "), tuple(_parts(name, rest)))


def _parts(name: str, text: str) -> Iterator[Part]:
    pieces = FENCED.split(text)
    yield pieces[0]
    for kind, block, after in zip(pieces[1::3], pieces[2::3], pieces[3::3], strict=True):
        try:
            part: Part = msgspec.toml.decode(block, type=KINDS[kind])
        except (msgspec.DecodeError, ValueError) as error:
            raise UserError(f"docs/lessons/{name}.md: block '{kind}': {error}") from None
        yield part
        yield after
