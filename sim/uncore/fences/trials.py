"""Runs of one program over seeds, machines and numbers of harts, until one fails.

    Trials(machines, threads, seeds, ...)       what is tried
    first_failure(program, trials) -> Failure   the first by seed, or None: all runs passed
    words(program, trials)                      as options of `uncore run`

Run n is on the machine and with the number of harts whose turn it is, from the seed n: so a few
runs already differ in everything, and a seed tells the whole run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import msgspec

from uncore import engine
from uncore.api import make_job
from uncore.errors import GuestError
from uncore.job import Job
from uncore.program import Program
from uncore.words import duration

SMALL: Mapping[str, str] = {"ops": "20", "updates": "20", "kill_after": "10", "batch": "2"}

ORDER: Mapping[str, str] = {}
WATCHDOG = "1ms"


@dataclass(frozen=True)
class Trials:
    """What is tried of each program."""

    machines: tuple[str, ...] = ("ccx:2x4", "mesh:3x3", "bus:8")
    threads: tuple[int, ...] = (2, 3, 4, 8)
    seeds: int = 200
    parameters: Mapping[str, str] = field(default_factory=dict)
    overrides: Mapping[str, str] = field(default_factory=dict)


class Failure(msgspec.Struct, frozen=True):
    """A run that failed, and why."""

    machine: str
    threads: int
    seed: int
    why: str


def jobs(program: Program, trials: Trials) -> Iterator[tuple[str, Job]]:
    """Each run with the machine's name, by seed."""
    curves = [
        (
            machine,
            make_job(
                machine,
                program,
                trials.threads,
                parameters=_parameters(program, trials),
                overrides=_overrides(trials),
                watchdog=duration("--watchdog", WATCHDOG),
            ),
        )
        for machine in trials.machines
    ]
    for seed in range(1, trials.seeds + 1):
        turn, at = divmod(seed - 1, len(curves))
        machine, curve = curves[at]
        yield machine, curve.at(trials.threads[turn % len(trials.threads)], seed)


def first_failure(program: Program, trials: Trials) -> Failure | None:
    for machine, job in jobs(program, trials):
        if why := _failure(job):
            assert job.seed is not None
            return Failure(machine, job.threads[0], job.seed, why)
    return None


def _failure(job: Job) -> str:
    try:
        failures = engine.run(job, frozenset())["failures"]
    except GuestError as error:
        return str(error)
    return str(failures[0]) if failures else ""


def words(program: Program, trials: Trials) -> list[str]:
    said = {"--set": _parameters(program, trials), "--with": _overrides(trials)}
    chosen = [(option, f"{k}={v}") for option, pairs in said.items() for k, v in pairs.items()]
    return [*(word for pair in chosen for word in pair), "--watchdog", WATCHDOG]


def _parameters(program: Program, trials: Trials) -> dict[str, str]:
    settings = {parameter.name for parameter in program.params}
    small = {name: value for name, value in SMALL.items() if name in settings}
    return {**small, **trials.parameters}


def _overrides(trials: Trials) -> dict[str, str]:
    return {**ORDER, **trials.overrides}
