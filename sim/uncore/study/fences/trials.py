"""Runs one program with many seeds, machines and thread counts, until a run fails.

    Trials(machines, threads, seeds, ...)       says with what to run programs
    first_failure(program, trials) -> Failure   returns the failure with the smallest seed, or None

The seed of a run also selects its machine, pace and thread count, each in rotation. So even a few
runs differ in all of these, and the seed alone identifies the run.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec

from uncore import engine
from uncore.engine import EngineOptions
from uncore.errors import GuestError
from uncore.execution import repeat_command as repeating
from uncore.execution.request import make_job
from uncore.job import Job
from uncore.job.option_values import duration
from uncore.program import Program

WEAK_ORDER: Mapping[str, str] = {"core.order": "weak"}
WATCHDOG = "1ms"
# Parameters, for programs that have them. SMALL_PARAMETERS keep runs short. Each of PACES (its
# parameters, and its overrides of the machine) lengthens or shortens the time inside and outside
# critical sections, because a misplaced access is noticed only while another thread is active.
SMALL_PARAMETERS: Mapping[str, str] = {
    "ops": "20",
    "updates": "20",
    "kill_after": "10",
    "batch": "2",
    "quiescent_every": "1",
    "write_every": "4",
}
PACES: Sequence[tuple[Mapping[str, str], Mapping[str, str]]] = (
    ({}, {}),
    ({"hold": "2us"}, {}),
    ({"hold": "500ns", "think": "1us", "period": "500ns"}, {}),
    ({"hold": "4us"}, {"chance.store": "5us"}),
    ({"hold": "300ns"}, {"chance.load": "10us"}),
)


@dataclass(frozen=True)
class Trials:
    """The machines, thread counts, seeds and parameters with which each program is run."""

    machines: tuple[str, ...] = ("ccx:2x4", "mesh:3x3", "bus:8")
    threads: tuple[int, ...] = (2, 3, 4, 8)
    seeds: int = 200
    parameters: Mapping[str, str] = field(default_factory=dict)
    overrides: Mapping[str, str] = field(default_factory=dict)
    engine_options: EngineOptions = field(default_factory=dict)
    # fields of the Job that Linux programs need
    linux_fields: Mapping[str, Any] = field(default_factory=dict)


class Failure(msgspec.Struct, frozen=True):
    """A run that failed, why, and the command that repeats it."""

    machine: str
    threads: int
    seed: int
    why: str
    repeat: str


def first_failure(program: Program, trials: Trials) -> Failure | None:
    for machine, job in _runs(program, trials):
        if why := _failure(job, trials.engine_options):
            assert job.seed is not None
            command = shlex.join(
                repeating.command_words(machine, str(program.path), job, trials.engine_options)
            )
            return Failure(machine, job.threads[0], job.seed, why, command)
    return None


def _runs(program: Program, trials: Trials) -> Iterator[tuple[str, Job]]:
    """Yields the machine's name and the job of each run, in the order of seeds."""
    curves = [
        (machine, _curve(machine, program, trials, *pace))
        for pace in PACES
        for machine in trials.machines
    ]
    for seed in range(1, trials.seeds + 1):
        rotation, index = divmod(seed - 1, len(curves))
        machine, curve = curves[index]
        yield machine, curve.at(trials.threads[rotation % len(trials.threads)], seed)


def _curve(
    machine: str,
    program: Program,
    trials: Trials,
    pace: Mapping[str, str],
    chance: Mapping[str, str],
) -> Job:
    settings = {parameter.name for parameter in program.params}
    usual = {
        name: value for name, value in {**SMALL_PARAMETERS, **pace}.items() if name in settings
    }
    job = make_job(
        machine,
        program,
        trials.threads,
        parameters={**usual, **trials.parameters},
        overrides={**WEAK_ORDER, **chance, **trials.overrides},
        watchdog=duration("--watchdog", WATCHDOG),
    )
    return replace(job, **trials.linux_fields)


def _failure(job: Job, engine_options: EngineOptions) -> str:
    try:
        failures = engine.run(job, frozenset(), engine_options=engine_options)["failures"]
    except GuestError as error:
        return str(error)
    return str(failures[0]) if failures else ""
