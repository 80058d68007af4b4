"""Makes the command line that repeats a job, for a reader of its result.

    command_words(machine, workload, job)    uncore run MACHINE WORKLOAD --threads ...

`machine` and `workload` are the names by which the job's machine and program were loaded.
"""

from __future__ import annotations

from uncore.engine import NO_OPTIONS, EngineOptions
from uncore.job import Job
from uncore.job.schema import options


def command_words(
    machine: str, workload: str, job: Job, engine_options: EngineOptions = NO_OPTIONS
) -> tuple[str, ...]:
    """Returns the arguments of the command, without options that have their defaults."""
    command = ["uncore", "run", machine, workload, "--threads", ",".join(map(str, job.threads))]
    for name, option in options(Job).items():
        command += option.written(getattr(job, name))
    command += [f"--{name.replace('_', '-')}={value}" for name, value in engine_options.items()]
    return tuple(command)
