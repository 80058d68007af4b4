"""SST, the Structural Simulation Toolkit: its memHierarchy and merlin, with harts of ours.

A run is a folder (folder.py) that `sst` executes; what it prints and counts becomes a Point
(read.py).  SST runs in a process of its own, in `UNCORE_SST_THREADS` threads (--sst-threads), which
changes how long it takes and nothing else.  The folder of a run that fails is kept.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from uncore.engine import Probes, Tick, silent
from uncore.engine.sst import find, folder, read
from uncore.errors import OutsideError, UserError

if TYPE_CHECKING:
    from uncore.job import Job

ABOUT = "SST: memHierarchy and merlin, with harts of ours (an outside simulator)"
GIVES = frozenset(
    "threads ops elapsed_ps thread_ops latency invalidations instructions transactions tables"
    " failures".split()
)
# Why its times are not the model's: for `uncore crosscheck`; docs/engines.md says more.
DIFFERS = (
    "an AMO is LoadLink and StoreConditional: two visits of the L1; the line may then go at once",
    "a line that another core owns comes through the directory: four ways, where homes of the"
    " model reply directly with three",
    "a bus is a router: messages wait for each other only where they leave by one port",
    "caches work in turns of the core's clock, and take some for every step",
)
PROBES: frozenset[str] = frozenset()
HARTS = 256
THREADS = "UNCORE_SST_THREADS"
PR_SET_PDEATHSIG = 1  # <sys/prctl.h>
GLANCE = 0.05  # seconds between two looks whether it has ended


def missing() -> str:
    """What must be installed or built to use it here."""
    return find.missing(find.found())


def about() -> str:
    """Which SST it is."""
    return str(find.found() or ABOUT)


def run(job: Job, probes: Probes, tick: Tick = silent) -> dict[str, Any]:
    """One point, from a folder that is dropped if all went well."""
    refuse(job)
    place = Path(tempfile.mkdtemp(prefix="uncore-sst-"))
    try:
        folder.write(job, place)
        output = _execute(place, tick)
        point = read.point(job, output, place / "statistics.csv")
    except OutsideError as error:
        raise OutsideError(f"{error}\nThe run folder is kept: {place}") from None
    except BaseException:
        shutil.rmtree(place, ignore_errors=True)
        raise
    shutil.rmtree(place)
    return point | {"observed": {}}


def refuse(job: Job) -> None:
    """A UserError for what SST's parts cannot do."""
    machine, harts = job.machine, job.harts[: job.threads[0]]
    if len({hart // machine.threads_per_core for hart in harts}) < len(harts):
        raise UserError(
            f"{machine.id}: engine sst has one hart a core; write --smt off, or fewer --threads"
        )
    if job.home in ("first-touch", "pair"):
        raise UserError(
            f"--home {job.home}: engine sst homes memory by address; write addressed, interleave"
            " or node0"
        )
    if job.slices != "hash":
        raise UserError(f"--slices {job.slices}: engine sst deals lines out in turn; write hash")


def threads() -> int:
    """As UNCORE_SST_THREADS says."""
    said = os.environ.get(THREADS, "1")
    if not said.isdigit() or not 1 <= int(said) <= 1024:
        raise UserError(f"UNCORE_SST_THREADS={said}: write a number of threads, 1 or more")
    return int(said)


def command(place: Path) -> list[str]:
    """What runs a folder."""
    sst, element = find.found(), find.our_element()
    assert sst and element, "asked for before `missing` was"
    options = [f"--add-lib-path={element}", f"--num-threads={threads()}"]
    return [str(sst.program), *options, str(place / folder.CONFIGURATION)]


def _end_with_us() -> None:
    """In the child: it is killed when we end, however that happens (prctl, Linux)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def _execute(place: Path, tick: Tick) -> str:
    """Everything it said."""
    said = place / "output.txt"
    with said.open("w") as output:
        process = subprocess.Popen(
            command(place),
            cwd=place,
            stdout=output,
            stderr=subprocess.STDOUT,
            preexec_fn=_end_with_us,
        )
        try:
            while process.poll() is None:
                time.sleep(GLANCE)
                tick(0)
        finally:
            process.kill()
            process.wait()
    text = said.read_text(errors="replace")
    if process.returncode:
        raise OutsideError(f"SST ended with status {process.returncode}:\n{read.tail(text)}")
    return text
