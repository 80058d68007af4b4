"""Seeds of a command's runs.

Lockstep    no seed, unless the user gives one
Drawn       one seed, for a single run
Repeated    consecutive seeds, for several runs
Measured    as many seeds as the command decides, unless the user gives their number
Estimate    as many seeds as an interval of the rate needs, unless the user gives the number or the
            length of runs
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Protocol

from cyclopts import Parameter, validators

from uncore.cli.options.groups import panel
from uncore.errors import UserError
from uncore.execution.request import usual_seeds
from uncore.job import Job
from uncore.job.forms import REPEATS, SEEDS_IF_SLICE_IS_DRAWN
from uncore.job.option_values import seeds
from uncore.job.schema import Group, options

_FLAG = options(Job)["seeds"].flag
Seed = Annotated[
    str | None,
    Parameter(name=_FLAG, help=options(Job)["seeds"].about, group=panel(Group.CHANCE)),
]
Repeat = Annotated[
    int,
    Parameter(
        validator=validators.Number(gte=1),
        help="number of runs of each thread count, with consecutive seeds from --seed on",
        group=panel(Group.CHANCE),
    ),
]


class Chance(Protocol):
    def seeds(self, engine: str) -> tuple[int, ...]:
        """Returns the seeds of a job on this engine."""

    def fields(self, engine: str) -> dict[str, Any]:
        """Returns the fields of a job on this engine."""


class _Seeds:
    def fields(self: Chance, engine: str) -> dict[str, Any]:
        return {"seeds": self.seeds(engine)}


@Parameter(name="*")
@dataclass(frozen=True)
class Lockstep(_Seeds):
    seed: Seed = None

    def seeds(self, engine: str) -> tuple[int, ...]:
        return seeds(_FLAG, self.seed or "none", 1)


@Parameter(name="*")
@dataclass(frozen=True)
class Drawn(_Seeds):
    seed: Seed = None

    def seeds(self, engine: str) -> tuple[int, ...]:
        return _given_or_usual_seeds(engine, self.seed, 1)


@Parameter(name="*")
@dataclass(frozen=True)
class Repeated(_Seeds):
    seed: Seed = None
    repeat: Repeat = REPEATS

    def seeds(self, engine: str) -> tuple[int, ...]:
        return _seeds_of_repeats(engine, self.seed, self.repeat, REPEATS)


@Parameter(name="*")
@dataclass(frozen=True)
class Measured:
    seed: Seed = None
    repeat: Annotated[
        int | None,
        Parameter(
            validator=validators.Number(gte=1),
            help="number of seeds, from --seed on, over which each figure is averaged; default:"
            f" {SEEDS_IF_SLICE_IS_DRAWN} if each seed draws the slice that owns the line, else"
            f" {REPEATS}",
            group=panel(Group.CHANCE),
        ),
    ] = None

    def seeds(self, engine: str, usual_count: int) -> tuple[int, ...]:
        """Returns the seeds; `usual_count` is their number without --repeat."""
        return _seeds_of_repeats(engine, self.seed, self.repeat or usual_count, usual_count)


def _seeds_of_repeats(
    engine: str, seed: str | None, repeats: int, usual_count: int
) -> tuple[int, ...]:
    seeds_drawn = _given_or_usual_seeds(engine, seed, repeats)
    if not seeds_drawn and repeats != usual_count:
        raise UserError(
            f"--repeat {repeats}: in lockstep all runs are the same; write --seed 1 for runs that"
            " differ, on an engine that draws"
        )
    return seeds_drawn


def _given_or_usual_seeds(engine: str, seed: str | None, repeats: int) -> tuple[int, ...]:
    """Returns the given seeds, or the usual ones if the engine has randomness."""
    return usual_seeds(engine, repeats) if seed is None else seeds(_FLAG, seed, repeats)


_WITHIN = options(Job)["within"]


@Parameter(name="*")
@dataclass(frozen=True)
class Estimate(Repeated):
    within: Annotated[
        str | None, Parameter(name=_WITHIN.flag, help=_WITHIN.about, group=panel(_WITHIN.group))
    ] = None

    def fields(self, engine: str) -> dict[str, Any]:
        within = self.within and _WITHIN.form.read(_WITHIN.flag, self.within)
        return {"seeds": self.seeds(engine), "within": within}


LOCKSTEP, DRAWN, MEASURED, ESTIMATED = Lockstep(), Drawn(), Measured(), Estimate()
