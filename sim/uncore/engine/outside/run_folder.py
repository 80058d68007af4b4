"""Writes a run folder, which holds everything that a run of another simulator needs, except the
simulator.

    write(job, folder, program, system, configuration, readme)
        program.elf          the guest program with its parameters
        job.json             the job it was made from
        system.json          the simulation as data
        configuration.py     makes the simulator's objects of it
        README.md            how to run it by hand

The folder runs without uncore, also on another computer.  Invariant: equal jobs give equal folders,
byte for byte.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from uncore.errors import UserError
from uncore.support.output_files import write_whole

if TYPE_CHECKING:
    from uncore.job import Job

PROGRAM_FILE = "program.elf"
SYSTEM_FILE, JOB_FILE = "system.json", "job.json"
CONFIGURATION_FILE = "configuration.py"
PROGRESS_FILE = "progress.txt"  # configuration.py may append lines with the simulated time in ps


def write(
    job: Job, folder: Path, program: bytes, system: dict[str, Any], configuration: Path, readme: str
) -> None:
    """Writes the folder of a job of one thread count. `readme` is a format string with the fields
    workload, machine and threads.
    """
    names = {"workload": job.program.name, "machine": job.machine.id, "threads": job.threads[0]}
    files: dict[str, str | bytes] = {
        PROGRAM_FILE: program,
        SYSTEM_FILE: _json(system),
        JOB_FILE: _json(job.document()),
        CONFIGURATION_FILE: configuration.read_bytes(),
        "README.md": readme.format(**names),
    }
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"{folder}: cannot make the folder: {error.strerror}") from None
    for name, content in files.items():
        write_whole(folder / name, content)


def _json(document: object) -> str:
    return json.dumps(document, indent=1) + "\n"
