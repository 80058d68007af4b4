"""A run of another simulator: a folder that it executes in a process of its own.

    point(job, "SST", write, command, read, tick) -> dict    the fields of one Point
    refuse(job)                                              what no outside engine can do
    ignored(machine)                                         what none of them heeds, in words

The folder is dropped if all went well, and kept for the user if the simulator failed.  Invariant:
the process ends when we end, however that happens.
"""

from __future__ import annotations

import ctypes
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from uncore.engine import Tick
from uncore.engine.outside.printed import tail
from uncore.engine.outside.run_folder import PROGRESS
from uncore.errors import OutsideError, UserError

if TYPE_CHECKING:
    from uncore.job import Job
    from uncore.topology.machine import Machine

PR_SET_PDEATHSIG = 1  # <sys/prctl.h>
GLANCE = 0.05  # seconds between two checks whether it has ended


def point(
    job: Job,
    name: str,
    write: Callable[[Job, Path], None],
    command: Callable[[Path], Sequence[str]],
    read: Callable[[Job, str, Path], dict[str, Any]],
    tick: Tick,
) -> dict[str, Any]:
    """`write` makes the folder, `command` executes it there, `read` reads what it left."""
    folder = Path(tempfile.mkdtemp(prefix=f"uncore-{job.engine}-"))
    try:
        write(job, folder)
        fields = read(job, _execute(name, command(folder), folder, tick), folder)
    except OutsideError as error:
        raise OutsideError(f"{error}\nThe run folder is kept: {folder}") from None
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    shutil.rmtree(folder)
    return fields | {"observed": {}}


def refuse(job: Job) -> None:
    """A UserError: their cores have one hart, their addresses decide about home and slice."""
    machine, harts = job.machine, job.used_harts
    if len({machine.core_of(hart) for hart in harts}) < len(harts):
        raise UserError(
            f"{machine.id}: engine {job.engine} has one hart a core; write --smt off, or fewer"
            " --threads"
        )
    if job.home in ("first-touch", "pair"):
        raise UserError(
            f"--home {job.home}: engine {job.engine} homes memory by address; write addressed,"
            " interleave or node0"
        )
    if job.slices != "hash":
        raise UserError(
            f"--slices {job.slices}: engine {job.engine} deals lines out in turn; write hash"
        )


def ignored(machine: Machine) -> str:
    levels = dict.fromkeys(resolver.level for resolver in machine.resolvers if resolver.pointers)
    words = []
    if levels:
        words.append(
            f"{', '.join(levels)}: pointers mean nothing there; its directories name every sharer"
        )
    if any(memory.cache_sets for memory in machine.memories):
        words.append("memory: its cache means nothing there; each read waits for the memory")
    return "; ".join(words)


def _end_with_us() -> None:
    """In the child: it is killed when we end, however that happens (prctl, Linux)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def _reached(progress: Path) -> int:
    """Simulated ps, of the last line that is whole; 0 of a simulator that does not tell."""
    lines = progress.read_text().splitlines(keepends=True) if progress.is_file() else []
    return next((int(line) for line in reversed(lines) if line.endswith("\n")), 0)


def _execute(name: str, command: Sequence[str], folder: Path, tick: Tick) -> str:
    """Everything it said."""
    printed = folder / "output.txt"
    with printed.open("w") as output:
        process = subprocess.Popen(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            preexec_fn=_end_with_us,
        )
        try:
            while process.poll() is None:
                time.sleep(GLANCE)
                tick(0, _reached(folder / PROGRESS))
        finally:
            process.kill()
            process.wait()
    text = printed.read_text(errors="replace")
    if process.returncode == -signal.SIGKILL:
        raise OutsideError(f"{name} was killed, as Linux does where memory runs out.\n{tail(text)}")
    if process.returncode:
        raise OutsideError(f"{name} ended with status {process.returncode}:\n{tail(text)}")
    return text
