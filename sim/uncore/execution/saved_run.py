"""Saves a run in a file at a simulated time, and continues it from there any number of times.

    save(job, when, path) -> Result             runs a job of one point, and saves it at `when`
    resume_saved(path, parameters) -> Result    continues the run, perhaps with other parameters

A long initial phase is simulated once, and many variants continue from its end. With the same
parameters the result, including its hash, is that of a run that was never saved. With other
parameters, the job's `since` has the time of the save and the parameters until then.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from uncore import engine
from uncore.engine import NO_OPTIONS, EngineOptions
from uncore.engine.native import state
from uncore.engine.native.state import State
from uncore.errors import UserError
from uncore.execution.execute import result_of_point
from uncore.job import Job
from uncore.program import Program
from uncore.result import Result


class SavedRunHead(msgspec.Struct, frozen=True):
    """The head of the file: the job and its program."""

    job: dict[str, Any]
    program: tuple[str, str, bytes]  # name, path, ELF


def save(
    job: Job, when: int | str, path: Path, engine_options: EngineOptions = NO_OPTIONS
) -> Result:
    """Runs a job of a single point, and saves it at `when` (ps), or when the region of interest
    begins.
    """
    from uncore.engine.native import state_file  # noqa: PLC0415 (it needs zstd)

    if len(list(job.points())) > 1 or job.engine != "native":
        raise UserError(
            "--state: one run is saved, of engine native; write one thread count and --repeat 1,"
            " or --seed none"
        )
    point = next(job.points())
    guest = (job.program.name, str(job.program.path), job.program.data)

    def write(reached: State) -> None:
        state_file.write(path, "run", SavedRunHead(point.document(), guest), reached)

    return result_of_point(
        point, lambda job: state.run_and_save(job, when, write, engine.watched(job, engine_options))
    )


def resume_saved(
    path: Path, parameters: Mapping[str, str], engine_options: EngineOptions = NO_OPTIONS
) -> Result:
    """Continues a saved run with other values of `parameters`."""
    from uncore.engine.native import state_file  # noqa: PLC0415 (it needs zstd)

    about, saved_state = state_file.read(path, "run", SavedRunHead)
    name, origin, data = about.program
    saved_job = Job.of(about.job, Program(name, Path(origin), data))
    job = saved_job.adding(parameters)
    if job != saved_job:
        job = replace(job, since=(saved_state.at, saved_job.parameters))
    return result_of_point(
        job, lambda job: state.resume(saved_state, job, engine.watched(job, engine_options))
    )
