"""Runs jobs in SST, the Structural Simulation Toolkit, with its memHierarchy and merlin, and with
uncore's harts.

A run is a folder that `sst` executes; its output and statistics become a Point (read.py).  SST runs
in as many processes and threads as its options say.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from uncore.engine import Observers, ProgressCallback, initial_memory
from uncore.engine.outside import run as runs
from uncore.engine.outside import run_folder as folder
from uncore.engine.sst import find, read
from uncore.engine.sst import simulation as system
from uncore.engine.sst.options import Options
from uncore.engine.sst.parameters import SstParts
from uncore.support import paths

if TYPE_CHECKING:
    from uncore.job import Job

ABOUT = "SST: memHierarchy and merlin, with harts of ours (an outside simulator)"
ABSENT_FIELDS = read.ABSENT_FIELDS
# Reasons for times that differ from the model's, for `uncore crosscheck`; docs/engines.md has more.
DIFFERENCES = (
    "an AMO is LoadLink and StoreConditional: two visits of the L1; the line may then go at once",
    "a line that another core owns comes through the directory: four ways, where homes of the"
    " model reply directly with three",
    "a bus is a router: messages wait for each other only where they leave by one port",
    "caches work in cycles of the core's clock, and take some for every step",
)
OBSERVERS: frozenset[str] = frozenset()
FEATURES = frozenset({"chance"})  # only random start times (V3), for which the program itself waits
locate, missing = find.locate, find.missing
ACCEPTS_CORES = False
MAX_HARTS = 256
README = """# {workload} on {machine}, {threads} harts, for SST

* `system.json`: the simulation: components, their parameters, links with their latencies
* `configuration.py`: makes SST objects of it, one for one
* `program.elf`: the guest program with its parameters, for bare-metal RV64
* `job.json`: the job it was made from

Needed: SST OLDEST or newer with the elements memHierarchy and merlin (and kingsley, if its meshes
were asked for), and the element `uncore`, which `python -m SCons sst` builds in a checkout of
uncore (`build/sst/libuncore.so`).

    sst --add-lib-path=FOLDER_OF_LIBUNCORE configuration.py
    sst --add-lib-path=FOLDER_OF_LIBUNCORE -n 4 configuration.py              four threads
    mpiexec -n 4 sst --add-lib-path=FOLDER_OF_LIBUNCORE configuration.py      four processes

The result is the same in all three. Lines that begin with `uc:` are the program's: what each hart
did, and its tables; the one with `uncore:` says how it ended. What each hart counted is in
`hart0.txt` and so on; what the caches received, in `statistics.csv`, of several processes in
`statistics_0.csv` and so on.
""".replace("OLDEST", ".".join(map(str, find.OLDEST_SST)))


def run(job: Job, observers: Observers, tick: ProgressCallback, options: Options) -> dict[str, Any]:
    """Runs one point."""
    runs.refuse(job)
    write_folder, command = partial(export, options=options), partial(_command, options=options)
    return runs.point(job, "SST", write_folder, command, read.point, tick)


def export(job: Job, directory: Path, options: Options) -> None:
    """Writes the run folder."""
    runs.refuse(job)
    configuration = paths.SST / folder.CONFIGURATION_FILE
    document = system.describe(job, options.sst_mesh)
    folder.write(job, directory, initial_memory.elf(job, FEATURES), document, configuration, README)


def protocol_of(job: Job, options: Options) -> str:
    """Returns the protocol of memHierarchy that is used."""
    return SstParts(job.machine).protocol


def _command(directory: Path, options: Options) -> list[str]:
    """Returns the command line that runs the simulation of a run folder."""
    sst, element = locate(options), find.element_folder()
    assert sst and element, "SST is used before missing() was called"
    words = [f"--add-lib-path={element}", f"--num-threads={options.sst_threads}"]
    configuration = str(directory / folder.CONFIGURATION_FILE)
    return [*find.launcher(options), str(sst.program), *words, configuration]
