"""The command `fences`: finds the memory orders that a program needs."""

from __future__ import annotations

from typing import Annotated

import msgspec
from cyclopts import Parameter, validators

from uncore.cli.options import ENGINE_WORDS, Cores, EngineWords, Json, Set, With, note, workers
from uncore.cli.status import FAILED, INTERRUPTED, OK
from uncore.drawing.progress import progress
from uncore.drawing.table import print_json
from uncore.errors import UserError
from uncore.execution.request import find_program
from uncore.job.option_values import pairs
from uncore.job.placement import thread_counts
from uncore.program import abi, source_of
from uncore.report import fences as report
from uncore.study.fences import questions as asking
from uncore.study.fences import variants
from uncore.study.fences.history import remember
from uncore.study.fences.questions import Answer, Question
from uncore.study.fences.trials import Trials

Harts = Annotated[str, Parameter(help="numbers of harts that take turns: 2,3,4..8")]


def fences(
    workload: Annotated[str, Parameter(help="a name, or a .c file")],
    *machines: Annotated[str, Parameter(help="that take turns; none: ccx:2x4 mesh:3x3 bus:8")],
    threads: Harts = "2,3,4,8",
    seeds: Annotated[
        int, Parameter(validator=validators.Number(gte=1), help="runs of each weakened program")
    ] = 200,
    at_once: Annotated[
        bool, Parameter(negative="", help="all orders weakened together, and none alone")
    ] = False,
    set_: Set = [],  # noqa: B006
    with_: With = [],  # noqa: B006
    engine_words: EngineWords = ENGINE_WORDS,
    cores: Cores = 0,
    json: Json = False,
) -> int:
    source = _source(workload)
    trials = Trials(
        machines or Trials.machines,
        thread_counts(threads, abi.CONSTANTS["UC_MAX_HARTS"]),
        seeds,
        pairs("--set", set_),
        pairs("--with", with_),
        engine_words.engine_options(),
    )
    questions = asking.questions(source, not at_once)
    answers = _ask(source, questions, trials, workers(cores))
    rows = [msgspec.to_builtins(answer) for n in sorted(answers) for answer in answers[n]]
    if json:
        print_json(rows)
    else:
        report.show(f"{workload}: {len(source.orders)} memory orders stronger than relaxed", rows)
    if any(row["verdict"] == asking.FAILS for row in rows):
        note(f"{workload}: fails as it is written; what weakening does is not known")
        return FAILED
    if len(answers) < len(questions):
        return INTERRUPTED
    remember(source)
    return OK


def _source(workload: str) -> variants.ProgramSource:
    guest = find_program(workload)
    if guest.linux:
        raise UserError(
            f"{workload}: a program with main(), and what its orders hide shows on a weakly ordered"
            " machine alone, which runs workloads only; put its lock into one (uc_main, contend.h)"
        )
    return variants.read(source_of(guest))


def _ask(
    source: variants.ProgramSource, questions: list[Question], trials: Trials, cores: int
) -> dict[int, list[Answer]]:
    """The answers by the question's number; interrupted, those that have come."""
    answers_by_number: dict[int, list[Answer]] = {}
    try:
        with progress(len(questions), "asking", "orders") as advance:
            for number, answers in asking.answers(source, questions, trials, cores):
                answers_by_number[number] = answers
                advance(1)
    except KeyboardInterrupt:
        pass  # the finished questions are the answer
    return answers_by_number
