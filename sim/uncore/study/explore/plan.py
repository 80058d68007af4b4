"""The plan of an exploration: a file's choices, formulas and runs, ready to be tried.

    ExplorationPlan.read(path)    the plan, with programs loaded and formulas parsed
    plan.jobs(design)             the jobs of one design, by the names of the runs, and their
                                  commands
    plan.known(design)            its choices as values for formulas: times in ns, sizes in MiB

A design assigns a text to each choice. A choice is an option of `run` with a single word (home,
place, slices, ...), a key of the machine (a name with a point, or `protocol`), a parameter of all
workloads (`set.NAME`), or else a name for use in formulas and in braces.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from uncore.errors import UserError, nearest
from uncore.execution import repeat_command as repeating
from uncore.execution.request import find_program, make_job, searched
from uncore.job import Job
from uncore.job.schema import Scope, options
from uncore.program import Program
from uncore.study.explore import document
from uncore.study.explore.document import QuantityRange, Value, Written
from uncore.study.explore.formula import Constraint, Formula, Known, Template
from uncore.study.explore.quantity import Quantity, between, number

Design = Mapping[str, str]
OPTIONS = {  # options of `run` whose value is a single word
    option.word: option
    for option in options(Job).values()
    if option.form.word and option.scope is not Scope.LINUX
}
PARAMETER = "set."
WORDS = ("protocol",)  # keys of a machine that have no point


@dataclass(frozen=True)
class DesignChoice:
    """The values to choose from; or, if there are none, two quantities between which any value may
    be chosen.
    """

    name: str
    values: tuple[str, ...]
    ends: tuple[Quantity, Quantity] | None = None

    @property
    def ordered(self) -> bool:
        return all(isinstance(number(value), float) for value in self.values)


@dataclass(frozen=True)
class PlannedRun:
    program: Program
    workload: str  # the name that the user gave
    threads: int
    parameters: Mapping[str, Template]

    def values(self, design: Design, values: Known) -> dict[str, str]:
        """Returns the values of the run's parameters: those of all workloads, and its own."""
        common = {
            key.removeprefix(PARAMETER): value
            for key, value in design.items()
            if key.startswith(PARAMETER)
        }
        return common | {key: template.text(values) for key, template in self.parameters.items()}


@dataclass(frozen=True)
class Objective:
    formula: Formula
    most: bool  # more is better

    @property
    def words(self) -> str:
        return self.formula.words


@dataclass(frozen=True)
class ExplorationPlan:
    written: Written
    machine: Template
    numbers: Mapping[str, Template]
    runs: Mapping[str, PlannedRun]
    choices: tuple[DesignChoice, ...]
    figures: Mapping[str, Formula]
    objectives: tuple[Objective, ...]
    constraints: tuple[Constraint, ...]

    @classmethod
    def read(cls, file: Path) -> ExplorationPlan:
        written = document.read(file)
        document_ = written.values
        plan = cls(
            written,
            Template.read(document_.machine, written.at("machine")),
            _templates(written, document_.with_, "with"),
            {name: _run(written, name) for name in document_.runs},
            tuple(_choice(written, name, values) for name, values in document_.choices.items()),
            {
                name: Formula.read(words, written.at("figures", name))
                for name, words in document_.figures.items()
            },
            (*_objectives(written, "maximise"), *_objectives(written, "minimise")),
            tuple(
                Constraint.read(text, written.at("constraints")) for text in document_.constraints
            ),
        )
        plan._refuse_idle()
        return plan

    @property
    def title(self) -> str:
        return self.written.values.title or self.written.file.stem

    @property
    def designs(self) -> int:
        """Returns the number of designs to try."""
        return self.written.values.search.designs

    def known(self, design: Design) -> dict[str, float | str]:
        return {name: number(value) for name, value in design.items()}

    def jobs(self, design: Design) -> Iterator[tuple[str, Job]]:
        document, values = self.written.values, self.known(design)
        machine = self.machine.text(values)
        numbers = {key: template.text(values) for key, template in self.numbers.items()}
        numbers |= {key: value for key, value in design.items() if _of_machine(key)}
        chosen = ((OPTIONS[word], value) for word, value in design.items() if word in OPTIONS)
        policies: Any = {
            option.name: option.form.read(option.flag, value) for option, value in chosen
        }
        policies["seeds"] = tuple(range(document.seed, document.seed + document.repeat))
        within = policies.pop("within", None)
        first: Job | None = None
        for name, run in self.runs.items():
            if first is None:
                first = make_job(machine, run.program, [run.threads], overrides=numbers, **policies)
            job = replace(first, program=run.program, threads=(run.threads,))
            yield name, searched(job.given(run.values(design, values)), within)

    def words(self, design: Design, name: str, job: Job) -> tuple[str, ...]:
        """Returns the arguments of `uncore run` that repeat a job."""
        machine = self.machine.text(self.known(design))
        return repeating.command_words(machine, self.runs[name].workload, job)

    def _refuse_idle(self) -> None:
        """Refuses a choice that affects nothing, because it is probably a typing error."""
        if not self.objectives:
            raise UserError(
                f"{self.written.file}: nothing to look for: write maximise = [...] or minimise ="
                f' [...], of such as "{next(iter(self.runs))}.throughput"'
            )
        used = {name for formula in self._readers() for name in formula.names}
        for choice in self.choices:
            name = choice.name
            decides = name in OPTIONS or _of_machine(name) or name.startswith(PARAMETER)
            if not decides and name not in used:
                raise UserError(
                    f"{self.written.at('choices', name)}: '{name}' decides nothing: it is no option"
                    f" ({', '.join(OPTIONS)}), no number of the machine (like ccx.join.latency), no"
                    f" {PARAMETER}NAME, and no formula names it.{nearest(name, (*OPTIONS, *used))}"
                )

    def _readers(self) -> list[Template | Formula]:
        """Returns all texts and formulas that may name a choice."""
        own = [parameter for run in self.runs.values() for parameter in run.parameters.values()]
        sides = [bound for limit in self.constraints for bound in (limit.less, limit.more)]
        goals = [objective.formula for objective in self.objectives]
        return [self.machine, *self.numbers.values(), *own, *self.figures.values(), *sides, *goals]


def _of_machine(name: str) -> bool:
    return name in WORDS or ("." in name and not name.startswith(PARAMETER))


def _templates(written: Written, values: Mapping[str, Value], *at: str) -> dict[str, Template]:
    return {key: Template.read(str(value), written.at(*at, key)) for key, value in values.items()}


def _run(written: Written, name: str) -> PlannedRun:
    document = written.values.runs[name]
    try:
        program = find_program(document.workload)
        program.canonical({key: v for key, v in document.set.items() if "{" not in str(v)})
    except UserError as error:
        raise UserError(f"{written.at('runs', name)}: {error}") from None
    parameters = _templates(written, document.set, "runs", name, "set")
    return PlannedRun(
        program, document.workload, document.threads or written.values.threads, parameters
    )


def _choice(written: Written, name: str, values: Sequence[Value] | QuantityRange) -> DesignChoice:
    position = written.at("choices", name)
    if not isinstance(values, QuantityRange):
        texts = tuple(dict.fromkeys(str(value) for value in values))
        return DesignChoice(name, texts)
    if values.step is None:
        return DesignChoice(name, (), between(position, values.from_, values.to))
    low, high = between(position, values.from_, values.to)
    step, _ = between(position, values.step, values.to)
    count = int((high.amount - low.amount) / step.amount + 1e-9)
    texts = tuple(str(Quantity(low.amount + n * step.amount, low.unit)) for n in range(count + 1))
    return DesignChoice(name, texts)


def _objectives(written: Written, which: str) -> Iterator[Objective]:
    for words in getattr(written.values, which):
        yield Objective(Formula.read(words, written.at(which)), which == "maximise")
