"""A run folder: everything one run of another simulator needs, but that simulator.

    write(job, place, program, system, configuration, readme)
        program.elf          the guest program with its parameters
        job.json             the job it was made from
        system.json          the simulation as data
        configuration.py     makes the simulator's objects of it
        README.md            how to run it by hand

The folder runs without us, on another computer too.  Invariant: equal jobs give equal folders,
byte for byte.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from uncore.job import Job

PROGRAM = "program.elf"
SYSTEM, JOB = "system.json", "job.json"
CONFIGURATION = "configuration.py"
PROGRESS = "progress.txt"  # a configuration may append the ps simulated so far, line by line


def write(
    job: Job, place: Path, program: bytes, system: dict[str, Any], configuration: Path, readme: str
) -> None:
    """The job of one thread count; `readme` names workload, machine and threads."""
    place.mkdir(parents=True, exist_ok=True)
    names = {"workload": job.program.name, "machine": job.machine.id, "threads": job.threads[0]}
    (place / PROGRAM).write_bytes(program)
    (place / SYSTEM).write_text(_json(system))
    (place / JOB).write_text(_json(job.document()))
    shutil.copyfile(configuration, place / CONFIGURATION)
    (place / "README.md").write_text(readme.format(**names))


def _json(document: object) -> str:
    return json.dumps(document, indent=1) + "\n"
