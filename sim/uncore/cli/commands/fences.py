"""The command `fences`: finds the memory orders that a program needs."""

from __future__ import annotations

from typing import Annotated

import msgspec
from cyclopts import Parameter, validators

from uncore.cli.options import ENGINE_WORDS, Cores, EngineWords, Json, Set, With, note, workers
from uncore.cli.options.of_linux import ON_LINUX, OnLinux
from uncore.cli.status import FAILED, INTERRUPTED, OK
from uncore.drawing.progress import progress
from uncore.drawing.table import print_json
from uncore.job.option_values import pairs
from uncore.job.placement import thread_counts
from uncore.program import Program, abi, source_of
from uncore.study.fences import instructions, report, variants
from uncore.study.fences import questions as asking
from uncore.study.fences.history import remember
from uncore.study.fences.questions import Answer, Question, Source
from uncore.study.fences.trials import Trials

LINUX_PROGRAM_LIMITS = {"max_time": "100ms"}  # a weakened program may never end
Harts = Annotated[str, Parameter(help="hart counts used in turn, such as 2,3,4..8")]


def fences(
    workload: Annotated[
        str, Parameter(help="a workload's name, a .c or .elf file, or a Linux program")
    ],
    *machines: Annotated[
        str, Parameter(help="machines used in turn; default: ccx:2x4 mesh:3x3 bus:8")
    ],
    threads: Harts = "2,3,4,8",
    seeds: Annotated[
        int,
        Parameter(
            validator=validators.Number(gte=1), help="number of runs of each weakened program"
        ),
    ] = 200,
    at_once: Annotated[
        bool, Parameter(negative="", help="weaken all orders together, and none alone")
    ] = False,
    set_: Set = [],  # noqa: B006
    with_: With = [],  # noqa: B006
    engine_words: EngineWords = ENGINE_WORDS,
    cores: Cores = 0,
    on_linux: OnLinux = ON_LINUX,
    json: Json = False,
) -> int:
    program = on_linux.program(workload)
    source = _source(workload, program, on_linux)
    engine_options = engine_words.engine_options()
    if program.linux:
        engine_options = {**LINUX_PROGRAM_LIMITS, **engine_options}
    trials = Trials(
        machines or Trials.machines,
        thread_counts(threads, abi.CONSTANTS["UC_MAX_HARTS"]),
        seeds,
        pairs("--set", set_),
        pairs("--with", with_),
        engine_options,
        on_linux.values() if program.linux else {},
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
    if not program.linux or program.path.suffix == ".c":
        remember(variants.read(source_of(program)))
    return OK


def _source(workload: str, program: Program, on_linux: OnLinux) -> Source:
    if program.linux:
        return instructions.read(program)
    on_linux.check_unused(workload)
    return variants.read(source_of(program))


def _ask(
    source: Source, questions: list[Question], trials: Trials, cores: int
) -> dict[int, list[Answer]]:
    """Returns the answers by number of their question; if interrupted, those that are finished."""
    answers_by_number: dict[int, list[Answer]] = {}
    try:
        with progress(len(questions), "asking", "orders") as advance:
            for number, answers in asking.answers(source, questions, trials, cores):
                answers_by_number[number] = answers
                advance(1)
    except KeyboardInterrupt:
        pass  # the finished answers are returned
    return answers_by_number
