"""Tests for every memory order of a program whether the program needs it.

    questions(source, alone)                     returns the questions: the program as it is
                                                 written; all orders weakened at once; with
                                                 `alone`, also each order weakened alone
    answers(source, questions, trials, cores)    yields the answers to each question

"needed": a run failed with the weaker order, which proves it. "not seen needed": no run failed; the
order may still be needed, because runs are few or the program's checks are weak. The weakest form
of an order is tried first. If no run fails, stronger forms are not tried.
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

AS_WRITTEN, ALL_AT_ONCE = "as written", "all at once"
PASSES, FAILS, NEEDED, NOT_SEEN_NEEDED, SAME_CODE = (
    "passes",
    "fails",
    "needed",
    "not seen needed",
    "same code",
)


class Answer(msgspec.Struct, frozen=True):
    """The verdict on one weakening; `failure` is the first run that failed, or None."""

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
    """A program whose orders can be weakened: C files or a compiled program."""

    @property
    def orders(self) -> Sequence[Any]:
        """Returns the orders. Each has a place, a column, its text, and weaker forms, with the
        weakest first.
        """

    def compiled(self, weakened: Iterable[tuple[Any, Any]]) -> Program | None:
        """Builds the program with weaker orders; returns None if C forbids one of them."""


def questions(source: Source, alone: bool) -> list[Question]:
    single_orders: Sequence[Question] = source.orders if alone else ()
    return [AS_WRITTEN, *([ALL_AT_ONCE] if source.orders else []), *single_orders]


def answers(
    source: Source, questions: Sequence[Question], trials: Trials, cores: int
) -> Iterator[tuple[int, list[Answer]]]:
    """Yields the number of each question with its answers, one for each weakening tried."""
    yield from pool.finished(
        partial(_numbered_answers, source, trials), list(enumerate(questions)), cores
    )


def _numbered_answers(
    source: Source, trials: Trials, numbered: Numbered
) -> tuple[int, list[Answer]]:
    number, question = numbered
    if not isinstance(question, str):
        return number, list(_weakened_alone(source, trials, question))
    weakest = [(order, order.weaker[0]) for order in source.orders]
    program = source.compiled(weakest if question == ALL_AT_ONCE else [])
    assert program, "the weakest order is allowed everywhere"
    verdicts = (NEEDED, NOT_SEEN_NEEDED) if question == ALL_AT_ONCE else (FAILS, PASSES)
    weakened = "relaxed" if question == ALL_AT_ONCE else ""
    return number, [_answer_of_trials(program, trials, (question, 0, "", weakened), verdicts)]


def _weakened_alone(source: Source, trials: Trials, order: Order) -> Iterator[Answer]:
    as_written = source.compiled([])
    assert as_written, "what the user wrote is compiled or refused, not skipped"
    for weakening in order.weaker:
        row = (order.place, order.column, order.says, weakening.order)
        program = source.compiled([(order, weakening)])
        if program is None:
            continue
        if code(program) == code(as_written):
            yield Answer(*row, verdict=SAME_CODE, runs=0)
            return
        answer = _answer_of_trials(program, trials, row, (NEEDED, NOT_SEEN_NEEDED))
        yield answer
        if not answer.failure:
            return


def _answer_of_trials(
    program: Program, trials: Trials, row: tuple[str, int, str, str], verdicts: tuple[str, str]
) -> Answer:
    failure = first_failure(program, trials)
    return Answer(
        *row,
        verdict=verdicts[0 if failure else 1],
        runs=failure.seed if failure else trials.seeds,
        failure=failure,
    )
