"""Describes the difference of two jobs in words."""

from __future__ import annotations

from collections.abc import Sequence

from uncore.job import Job
from uncore.job.schema import options

WORDS = [name for name, declared in options(Job).items() if declared.axis and declared.form.word]


def apart(jobs: Sequence[Job]) -> list[str]:
    """A name for each: its words that another has not; the workload, where all are alike."""
    words = [_words(job) for job in jobs]
    shared = [key for key in words[0] if all(key in named for named in words)]
    differ = [key for key in shared if len({named[key] for named in words}) > 1]
    return [" ".join(named[key] for key in differ or ("workload",)) for named in words]


def _words(job: Job) -> dict[str, str]:
    settings = {name: f"{name}={value}" for name, value in (*job.overrides, *job.parameters)}
    return {
        "workload": job.program.name,
        "machine": job.machine.id,
        **{name: str(getattr(job, name)) for name in WORDS},
        **settings,
        "protocol": job.machine.protocol.upper(),
    }
