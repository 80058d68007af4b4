"""The command that repeats a job, for whoever reads of its result.

    words(machine, workload, job)     uncore run MACHINE WORKLOAD --threads ..., to be copied

The first two are the names that the job's machine and program were found by.
"""

from __future__ import annotations

import dataclasses

from uncore.engine import NOTHING, Told
from uncore.job import Job
from uncore.topology.units import TIME

SEEDS = (1, 2, 3)  # of a run that nothing is said of
OPTIONS = {"placement": "place", "home": "home", "slices": "slices", "engine": "engine"}
USUAL = {field.name: field.default for field in dataclasses.fields(Job)}


def words(machine: str, workload: str, job: Job, told: Told = NOTHING) -> tuple[str, ...]:
    """What is as usual is not said."""
    threads = ",".join(map(str, job.threads))
    found = ["uncore", "run", machine, workload, "--threads", threads]
    for field, option in OPTIONS.items():
        if getattr(job, field) != USUAL[field]:
            found += [f"--{option}", getattr(job, field)]
    found += ["--smt", "off"] * (not job.smt)
    if job.watchdog != USUAL["watchdog"]:
        found += ["--watchdog", _written(job.watchdog)]
    for option, values in (("--with", job.overrides), ("--set", job.parameters)):
        found += [word for name, value in values for word in (option, f"{name}={value}")]
    found += [*_drawn(job.seeds), *(f"--argument={word}" for word in job.arguments)]
    found += ["--os", job.system] * (job.system != USUAL["system"])
    found += [f"--{name.replace('_', '-')}={value}" for name, value in told.items()]
    return tuple(found)


def _written(ps: int) -> str:
    unit = max((unit for unit in TIME if ps % TIME[unit] == 0), key=lambda unit: TIME[unit])
    return f"{ps // TIME[unit]}{unit}"


def _drawn(seeds: tuple[int, ...]) -> list[str]:
    if not seeds:
        return ["--seed", "none"]
    return [] if seeds == SEEDS else ["--seed", str(seeds[0]), "--repeat", str(len(seeds))]
