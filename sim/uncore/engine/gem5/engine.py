"""Runs jobs in gem5's full-system mode, on bare metal, with Ruby's caches and a SimpleNetwork.

A run is a folder that gem5 executes; its output and statistics become a Point (read.py).  gem5 runs
in a process of its own, in one thread.  The folder of a run that fails is kept.

The engine uses the first protocol of the installed gem5 that can express the machine.  If no gem5
is installed (`uncore export gem5` does not need it), the first of all protocols that can is used.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from uncore.engine import Observers, ProgressCallback, initial_memory
from uncore.engine.gem5 import find, read
from uncore.engine.gem5 import simulation as system
from uncore.engine.gem5.cache_parameters import core_in_use
from uncore.engine.gem5.levels import levels
from uncore.engine.gem5.options import Options
from uncore.engine.gem5.protocols import PROTOCOLS
from uncore.engine.outside import run as runs
from uncore.engine.outside import run_folder as folder
from uncore.errors import UserError
from uncore.job import home_nodes
from uncore.program import abi
from uncore.support import paths
from uncore.support.output_files import write_whole

if TYPE_CHECKING:
    from uncore.job import Job

ABOUT = "gem5: full system on bare metal, Ruby and a SimpleNetwork (an outside simulator)"
ABSENT_FIELDS = read.ABSENT_FIELDS
# Reasons for times that differ from the model's, for `uncore crosscheck`; docs/engines.md has more.
DIFFERENCES = (
    "a hart waits for its stores; branches are never predicted wrongly; pause is one instruction",
    "an atomic takes what a load takes; LR asks for a shared copy, its SC for the right to write",
    "a bank blocks a line until the requester has it; owners reply directly (CHI: as the level)",
    "CHI: readers of a line are served one after the other; a line is looked up when it is free",
    "a core's two levels are one cache with the first one's time",
    "an interrupt has no way: it is there when the CLINT is written",
)
OBSERVERS: frozenset[str] = frozenset()
FEATURES = frozenset({"chance"})  # only random start times (V3), for which the program itself waits
locate, missing = find.locate, find.missing
ACCEPTS_CORES = False
MAX_HARTS = 64
README = """# {workload} on {machine}, {threads} harts, for gem5

* `system.json`: the simulation: objects, their parameters, connections
* `configuration.py`: makes gem5's objects of it, one for one
* `program.elf`: the guest program with its parameters, for bare-metal RV64; `code.bin`: its code
* `job.json`: the job it was made from

Needed: gem5 OLDEST or newer, built for RISC-V with the protocol PROTOCOL and
NUMBER_BITS_PER_SET=CONTROLLERS or more.

    gem5.opt configuration.py

Lines that begin with `uc:` are the program's: what each hart did, and its tables. `m5out/stats.txt`
has gem5's statistics, `m5out/config.ini` every parameter of every object. `progress.txt` grows by a
line with the simulated time reached, in ps, about twice a second.
"""


def run(job: Job, observers: Observers, tick: ProgressCallback, options: Options) -> dict[str, Any]:
    """Runs one point."""
    gem5 = locate(options)
    assert gem5, "gem5 is used before missing() was called"
    chosen_protocol = choose(job, gem5)
    find.check_controller_count(gem5, controllers(job, chosen_protocol))
    command = [str(gem5.program), "-q", "--listener-mode=off", folder.CONFIGURATION_FILE]
    read_point = partial(read.point, protocol=chosen_protocol)
    write_folder = partial(export, options=options)
    return runs.point(job, "gem5", write_folder, lambda directory: command, read_point, tick)


def export(job: Job, directory: Path, options: Options) -> None:
    """Writes the run folder."""
    chosen_protocol = protocol_of(job, options)
    clock = abi.CONSTANTS["UC_CLOCK_CYCLE"]  # a clock common to all harts
    program = initial_memory.elf(job, FEATURES, clock=clock, timebase_hz=system.hertz(job))
    readme = README.replace("OLDEST", ".".join(map(str, find.OLDEST_GEM5)))
    readme = readme.replace("PROTOCOL", chosen_protocol)
    readme = readme.replace("CONTROLLERS", str(controllers(job, chosen_protocol)))
    document = system.describe(job, chosen_protocol)
    folder.write(job, directory, program, document, paths.GEM5 / folder.CONFIGURATION_FILE, readme)
    text = initial_memory.text(job)
    write_whole(directory / system.CODE_FILE, program[text.offset : text.offset + len(text.data)])


def protocol_of(job: Job, options: Options) -> str:
    """Returns the protocol for the job, chosen from those of the installed gem5; if none is
    installed, from all.
    """
    return choose(job, locate(options))


def choose(job: Job, gem5: find.Gem5 | None) -> str:
    """Returns the first available protocol that can express the machine; raises a UserError if
    none can.
    """
    runs.refuse(job)
    core_in_use(job)
    machine = job.machine
    nodes = len(home_nodes(job.home, machine))
    if job.home != "addressed" and nodes & (nodes - 1):
        raise UserError(
            f"--home {job.home}: gem5 deals pages out to a power of two, not to {nodes} nodes;"
            " write addressed or node0"
        )
    errors = []
    for name in gem5.usable if gem5 else PROTOCOLS:
        try:
            gem5_levels = levels(job, PROTOCOLS[name].several)
        except UserError as error:
            errors.append(error)
            continue
        if PROTOCOLS[name].by_node or not gem5_levels.by_node:
            return name
        errors.append(
            UserError(
                f"{machine.id}: each of {len(gem5_levels.nodes)} memory nodes orders its own lines,"
                f" and {name} picks a bank by an address' lowest bits; write --home node0, or use"
                " a gem5 with CHI or MOESI_CMP_directory"
            )
        )
    has = f"; {gem5.program} has {' '.join(gem5.protocols)}" if gem5 else ""
    raise UserError(f"{errors[0]}{has}")


def controllers(job: Job, protocol: str) -> int:
    """Returns the largest number of controllers of one kind."""
    chosen_protocol = PROTOCOLS[protocol]
    return chosen_protocol.controllers(levels(job, chosen_protocol.several))
