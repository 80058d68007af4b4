"""Every memory order of a program asked whether it is needed.

    questions(source, alone)                       the program as written, all orders at once, each
    answers(source, questions, trials, cores)      what came of each, as it comes

"Needed" is proved by a run that fails without the order.  "Not seen needed" is what so many runs
did not show: an order may be needed all the same, or the program's checks may be too weak to see.
An order is tried at its weakest first; where nothing fails then, nothing stronger is tried.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any, Protocol

import msgspec

from uncore.execution import pool
from uncore.program import Program
from uncore.study.fences.instructions import InstructionOrder
from uncore.study.fences.trials import Failure, Trials, first_failure
from uncore.study.fences.variants import OrderPlace, code

AS_WRITTEN, AT_ONCE = "as written", "all at once"
PASSES, FAILS, NEEDED, UNSEEN, SAME = "passes", "fails", "needed", "not seen needed", "same code"


class Answer(msgspec.Struct, frozen=True):
    """The result of one weakening; `failure` if a run failed."""

    place: str
    column: int
    says: str
    weakened: str
    verdict: str
    runs: int
    failure: Failure | None = None


Order = OrderPlace | InstructionOrder
Question = Order | str
Numbered = tuple[int, Question]


class Source(Protocol):
    """A program whose orders can be weakened: of a C file, or compiled."""

    @property
    def orders(self) -> Sequence[Any]:
        """Each with a place, a column, words, and what is weaker, the weakest first."""

    def compiled(self, weakened: Iterable[tuple[Any, Any]]) -> Program | None:
        """The program with weaker orders; None where C forbids one."""


def questions(source: Source, alone: bool) -> list[Question]:
    each: Sequence[Question] = source.orders if alone else ()
    return [AS_WRITTEN, *([AT_ONCE] if source.orders else []), *each]


def answers(
    source: Source, questions: Sequence[Question], trials: Trials, cores: int
) -> Iterator[tuple[int, list[Answer]]]:
    """Each question's number with its answers; one for each weakening that was tried."""
    yield from pool.finished(partial(_answered, source, trials), list(enumerate(questions)), cores)


def _answered(source: Source, trials: Trials, asked: Numbered) -> tuple[int, list[Answer]]:
    number, question = asked
    if not isinstance(question, str):
        return number, list(_alone(source, trials, question))
    weakest = [(order, order.weaker[0]) for order in source.orders]
    program = source.compiled(weakest if question == AT_ONCE else [])
    assert program, "the weakest order is allowed everywhere"
    verdicts = (NEEDED, UNSEEN) if question == AT_ONCE else (FAILS, PASSES)
    weakened = "relaxed" if question == AT_ONCE else ""
    return number, [_tried(program, trials, (question, 0, "", weakened), verdicts)]


def _alone(source: Source, trials: Trials, order: Order) -> Iterator[Answer]:
    written = source.compiled([])
    assert written, "what the user wrote is compiled or refused, not skipped"
    for weakening in order.weaker:
        row = (order.place, order.column, order.says, weakening.to)
        program = source.compiled([(order, weakening)])
        if program is None:
            continue
        if code(program) == code(written):
            yield Answer(*row, verdict=SAME, runs=0)
            return
        answer = _tried(program, trials, row, (NEEDED, UNSEEN))
        yield answer
        if not answer.failure:
            return


def _tried(
    program: Program, trials: Trials, row: tuple[str, int, str, str], verdicts: tuple[str, str]
) -> Answer:
    failure = first_failure(program, trials)
    return Answer(
        *row,
        verdict=verdicts[0 if failure else 1],
        runs=failure.seed if failure else trials.seeds,
        failure=failure,
    )
