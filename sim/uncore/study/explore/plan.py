"""The plan of an exploration: the choices, formulas and runs of its file.

    ExplorationPlan.read(path)    the plan, with programs loaded and formulas parsed
    plan.jobs(design)             the name, the job and the command of each run of a design
    plan.known(design)            its choices as values for formulas: times in ns, sizes in MiB

A design assigns a text to each choice. A choice is an option of `run` with a single word (home,
place, slices, ...), a key of the machine (a name with a point, or `protocol`), a parameter of all
workloads (`set.NAME`), or otherwise a name that formulas and texts in braces use.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from uncore.errors import UserError, suggestion
from uncore.execution import repeat_command as repeating
from uncore.execution.request import find_program, make_job, searched
from uncore.job import Job
from uncore.job.schema import Scope, options
from uncore.program import Program
from uncore.study.explore import document
from uncore.study.explore.document import ExplorationFile, QuantityRange, Value
from uncore.study.explore.formula import Constraint, Formula, Known, Template
from uncore.study.explore.quantity import Quantity, number, range_ends

Design = Mapping[str, str]
OPTIONS = {  # options of `run` whose value is a single word
    option.word: option
    for option in options(Job).values()
    if option.form.word and option.scope is not Scope.LINUX
}
PARAMETER_PREFIX = "set."
MACHINE_KEYS_WITHOUT_POINT = ("protocol",)


@dataclass(frozen=True)
class DesignChoice:
    """A choice of the file: its values; or, if there are none, the ends of a range, from which any
    value may be chosen.
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
        """Returns the values of the run's parameters: those for all workloads, and its own."""
        common = {
            key.removeprefix(PARAMETER_PREFIX): value
            for key, value in design.items()
            if key.startswith(PARAMETER_PREFIX)
        }
        return common | {key: template.text(values) for key, template in self.parameters.items()}


@dataclass(frozen=True)
class Objective:
    formula: Formula
    maximise: bool  # True: more is better

    @property
    def words(self) -> str:
        return self.formula.words


@dataclass(frozen=True)
class ExplorationPlan:
    written: ExplorationFile
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
            Template.read(document_.machine, written.position("machine")),
            _templates(written, document_.with_, "with"),
            {name: _run(written, name) for name in document_.runs},
            tuple(_choice(written, name, values) for name, values in document_.choices.items()),
            {
                name: Formula.read(words, written.position("figures", name))
                for name, words in document_.figures.items()
            },
            (*_objectives(written, "maximise"), *_objectives(written, "minimise")),
            tuple(
                Constraint.read(text, written.position("constraints"))
                for text in document_.constraints
            ),
        )
        plan._refuse_useless_parts()
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
        numbers |= {key: value for key, value in design.items() if _is_machine_key(key)}
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

    def _refuse_useless_parts(self) -> None:
        """Refuses a file without an objective, and a choice without any effect, because its name is
        probably misspelt.
        """
        if not self.objectives:
            raise UserError(
                f"{self.written.file}: nothing to look for: write maximise = [...] or minimise ="
                f' [...], of such as "{next(iter(self.runs))}.throughput"'
            )
        used = {name for formula in self._texts_with_names() for name in formula.names}
        for choice in self.choices:
            name = choice.name
            has_effect = (
                name in OPTIONS or _is_machine_key(name) or name.startswith(PARAMETER_PREFIX)
            )
            if not has_effect and name not in used:
                hint = suggestion(name, (*OPTIONS, *used))
                raise UserError(
                    f"{self.written.position('choices', name)}: '{name}' decides nothing: it is no"
                    f" option ({', '.join(OPTIONS)}), no number of the machine (like"
                    f" ccx.join.latency), no {PARAMETER_PREFIX}NAME, and no formula names it.{hint}"
                )

    def _texts_with_names(self) -> list[Template | Formula]:
        """Returns all texts and formulas that may name a choice."""
        parameters = [text for run in self.runs.values() for text in run.parameters.values()]
        sides = [side for bound in self.constraints for side in (bound.lesser, bound.greater)]
        goals = [objective.formula for objective in self.objectives]
        machine = [self.machine, *self.numbers.values()]
        return [*machine, *parameters, *self.figures.values(), *sides, *goals]


def _is_machine_key(name: str) -> bool:
    return name in MACHINE_KEYS_WITHOUT_POINT or (
        "." in name and not name.startswith(PARAMETER_PREFIX)
    )


def _templates(
    written: ExplorationFile, values: Mapping[str, Value], *path: str
) -> dict[str, Template]:
    return {
        key: Template.read(str(value), written.position(*path, key))
        for key, value in values.items()
    }


def _run(written: ExplorationFile, name: str) -> PlannedRun:
    document = written.values.runs[name]
    try:
        program = find_program(document.workload)
        program.canonical({key: v for key, v in document.set.items() if "{" not in str(v)})
    except UserError as error:
        raise UserError(f"{written.position('runs', name)}: {error}") from None
    parameters = _templates(written, document.set, "runs", name, "set")
    return PlannedRun(
        program, document.workload, document.threads or written.values.threads, parameters
    )


def _choice(
    written: ExplorationFile, name: str, values: Sequence[Value] | QuantityRange
) -> DesignChoice:
    position = written.position("choices", name)
    if not isinstance(values, QuantityRange):
        texts = tuple(dict.fromkeys(str(value) for value in values))
        return DesignChoice(name, texts)
    if values.step is None:
        return DesignChoice(name, (), range_ends(position, values.from_, values.to))
    low, high = range_ends(position, values.from_, values.to)
    step, _ = range_ends(position, values.step, values.to)
    count = int((high.amount - low.amount) / step.amount + 1e-9)
    texts = tuple(str(Quantity(low.amount + n * step.amount, low.unit)) for n in range(count + 1))
    return DesignChoice(name, texts)


def _objectives(written: ExplorationFile, which: str) -> Iterator[Objective]:
    for words in getattr(written.values, which):
        yield Objective(Formula.read(words, written.position(which)), which == "maximise")
