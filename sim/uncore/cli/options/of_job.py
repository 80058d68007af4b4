"""Options that are fields of a Job, as job.py declares them, and the jobs that they request.

    MachineWords     options of every command that simulates
    JobWords         these options, with placement and the workload's parameters
    parameter(name)  the option for one field, for commands that need only this field

A new field of Job becomes an option of the commands in its scope without a change here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field, make_dataclass
from itertools import product
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from uncore.cli.options.chance import Chance
from uncore.cli.options.groups import panel
from uncore.execution.request import find_program, make_job, searched
from uncore.job import Job
from uncore.job.schema import Group, Option, Scope, options
from uncore.program import Program

PARAMETERS_FIELD = "parameters"
Order = Annotated[
    Literal["tso", "weak"] | None,
    Parameter(
        help="memory order of the cores: total store order (tso), or as weak as RVWMO allows",
        group=panel(Group.MACHINE),
    ),
]
Slow = Annotated[
    bool,
    Parameter(
        negative="",
        help="allow more harts than the engine runs in reasonable time",
        group=panel(Group.LIMITS),
    ),
]
ADDED_OPTIONS: list[tuple[str, Any, Any]] = [("order", Order, None), ("slow", Slow, False)]


def parameter(name: str) -> Parameter:
    declared = options(Job)[name]
    negative = "" if declared.form.command_line_type in (list[str], bool) else None
    return Parameter(
        name=declared.flag, help=declared.about, group=panel(declared.group), negative=negative
    )


def fields(*scopes: Scope) -> Iterator[tuple[str, Any, Any]]:
    """Yields the options in these scopes, as fields of a dataclass; seeds are in chance.py."""
    for name, declared in options(Job).items():
        if declared.scope in scopes and name != "seeds":
            type_ = declared.form.command_line_type or declared.type
            optional = Path | None if type_ is Path else type_
            yield name, Annotated[optional, parameter(name)], _default(declared)


def _default(declared: Option) -> Any:
    shown = declared.form.shown(declared.default)
    return field(default_factory=list) if shown == [] else shown


def dataclass_of(name: str, declared: Iterable[tuple[str, Any, Any]]) -> Any:
    """Makes a frozen dataclass without __eq__ and __repr__, because generating them would slow down
    the start of every command.
    """
    return make_dataclass(name, declared, frozen=True, eq=False, repr=False)


def untouched(words: Any) -> bool:
    """Returns True if the user has given none of the options of a group."""
    return bool(vars(words) == vars(type(words)()))


class _Words:
    """Conversion of options into fields of a Job."""

    order: str | None
    slow: bool

    def words_of(self, name: str) -> Any:
        """Returns the words of an option; --order becomes an override, core.order."""
        words = getattr(self, name)
        return [*words, f"core.order={self.order}"] if name == "overrides" and self.order else words

    def values(self) -> dict[str, Any]:
        """Returns the fields of a Job from the options of this group."""
        return {
            n: option.form.read(option.flag, self.words_of(n))
            for n, option in self.options().items()
        }

    def options(self) -> dict[str, Option]:
        return {name: option for name, option in options(Job).items() if name in vars(self)}


_MachineFields: Any = dataclass_of("_MachineFields", [*fields(Scope.MACHINE), *ADDED_OPTIONS])
_JobFields: Any = dataclass_of(
    "_JobFields", [*fields(Scope.MACHINE, Scope.WORKLOAD), *ADDED_OPTIONS]
)


@Parameter(name="*")
class MachineWords(_MachineFields, _Words):  # type: ignore[misc]
    """Options of every command that simulates."""


@Parameter(name="*")
class JobWords(_JobFields, _Words):  # type: ignore[misc]
    """Options of a command that runs a workload."""

    def job(
        self, machine: str, workload: str | Program, threads: str | Iterable[int], chance: Chance
    ) -> Job:
        """Returns the job of a command that needs one."""
        values = self.values() | chance.fields(self.engine)
        return make_job(machine, workload, threads, **values, slow=self.slow)

    def jobs(
        self,
        machines: Sequence[str],
        workloads: Sequence[str | Program],
        threads: str,
        chance: Chance,
    ) -> list[Job]:
        """Returns a job for each combination of machines, workloads and values of axes."""
        programs = [find_program(workload) for workload in workloads]
        axes = {
            n: option.form.split(option.flag, self.words_of(n))
            for n, option in self.options().items()
            if option.axis
        }
        parameters = axes.pop(PARAMETERS_FIELD)
        fixed = {name: value for name, value in self.values().items() if name not in axes}
        del fixed[PARAMETERS_FIELD]
        jobs: list[Job] = []
        for machine, program, *values in product(machines, programs, *axes.values()):
            chosen = dict(zip(axes, values, strict=True))
            seed_fields = chance.fields(chosen["engine"])
            within = seed_fields.pop("within", 0)
            words = {**fixed, **chosen, "slow": self.slow, **seed_fields}
            job = make_job(machine, program, threads, **words)
            jobs += (searched(job.given(values), within) for values in parameters)
        return jobs


MACHINE_WORDS, JOB_WORDS = MachineWords(), JobWords()
