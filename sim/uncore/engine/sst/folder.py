"""A run folder: everything one run of SST needs, but SST and our element.

    write(job, folder)      configuration.py, system.json, program.elf, job.json, README.md

The folder runs by hand, on another computer too.  Invariant: equal jobs give equal folders, byte
for byte.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from uncore import paths
from uncore.engine import boot
from uncore.engine.sst import system

if TYPE_CHECKING:
    from uncore.job import Job

CONFIGURATION = "configuration.py"
SYSTEM, JOB = "system.json", "job.json"
README = """# {workload} on {machine}, {threads} harts, for SST

* `system.json`: the simulation: components, their parameters, links with their latencies
* `configuration.py`: makes SST objects of it, one for one
* `program.elf`: the guest program with its parameters, for bare-metal RV64
* `job.json`: the job it was made from

Needed: SST {oldest} or newer with the elements memHierarchy and merlin, and the element `uncore`,
which `python -m SCons sst` builds in a checkout of uncore (`build/sst/libuncore.so`).

    sst --add-lib-path=FOLDER_OF_LIBUNCORE configuration.py
    sst --add-lib-path=FOLDER_OF_LIBUNCORE -n 4 configuration.py              four threads
    mpirun -np 4 sst --add-lib-path=FOLDER_OF_LIBUNCORE configuration.py      four processes

The result is the same in all three. Lines that begin with `uc:` are the program's: what each hart
did, and its tables; those with `uncore:` are the harts'. `statistics.csv` counts what the caches
received.
"""


def write(job: Job, folder: Path) -> None:
    """The job of one thread count, into a folder that exists."""
    from uncore.engine.sst.find import OLDEST

    (folder / system.PROGRAM).write_bytes(boot.elf(job))
    (folder / SYSTEM).write_text(_json(system.describe(job)))
    (folder / JOB).write_text(_json(job.document()))
    shutil.copyfile(paths.SST / CONFIGURATION, folder / CONFIGURATION)
    names = {"workload": job.program.name, "machine": job.machine.id, "threads": job.threads[0]}
    oldest = ".".join(map(str, OLDEST))
    (folder / "README.md").write_text(README.format(**names, oldest=oldest))


def _json(document: object) -> str:
    return json.dumps(document, indent=1) + "\n"
