"""Runs another simulator, which executes a run folder in a process of its own.

    point(job, "SST", write, command, read, tick) -> dict    the fields of one Point
    refuse(job)                                              refuses jobs that no simulator can run
    ignored(machine)                                         lists features that simulators ignore

The folder is deleted after success, and kept for the user if the simulator failed.

Invariant: the simulator's process ends when this process ends, even if this process is killed.
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

from uncore.engine import ProgressCallback
from uncore.engine.outside.printed import tail
from uncore.engine.outside.run_folder import PROGRESS_FILE
from uncore.errors import OutsideError, UserError

if TYPE_CHECKING:
    from uncore.job import Job
    from uncore.topology.machine import Machine

PR_SET_PDEATHSIG = 1  # <sys/prctl.h>
POLL_INTERVAL_S = 0.05  # interval of the checks whether the process has ended


def point(
    job: Job,
    name: str,
    write: Callable[[Job, Path], None],
    command: Callable[[Path], Sequence[str]],
    read: Callable[[Job, str, Path], dict[str, Any]],
    tick: ProgressCallback,
) -> dict[str, Any]:
    """Runs one point. `write` makes the folder, `command` returns the command line for it, and
    `read` reads the results.
    """
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
    """Raises a UserError for jobs that place several harts on a core, or whose homes or slices do
    not follow from addresses.
    """
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
    notes = []
    if levels:
        notes.append(
            f"{', '.join(levels)}: pointers mean nothing there; its directories name every sharer"
        )
    if any(memory.cache_sets for memory in machine.memories):
        notes.append("memory: its cache means nothing there; each read waits for the memory")
    return "; ".join(notes)


def _die_with_parent() -> None:
    """Runs in the child process, which Linux then kills when its parent ends (prctl)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def _simulated_ps(progress: Path) -> int:
    """Returns the simulated ps in the last complete line; 0 if the simulator reports none."""
    lines = progress.read_text().splitlines(keepends=True) if progress.is_file() else []
    return next((int(line) for line in reversed(lines) if line.endswith("\n")), 0)


def _execute(name: str, command: Sequence[str], folder: Path, tick: ProgressCallback) -> str:
    """Runs the command and returns all its output."""
    printed = folder / "output.txt"
    with printed.open("w") as output:
        process = subprocess.Popen(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            preexec_fn=_die_with_parent,
        )
        try:
            while process.poll() is None:
                time.sleep(POLL_INTERVAL_S)
                tick(0, _simulated_ps(folder / PROGRESS_FILE))
        finally:
            process.kill()
            process.wait()
    text = printed.read_text(errors="replace")
    if process.returncode == -signal.SIGKILL:
        raise OutsideError(f"{name} was killed, as Linux does where memory runs out.\n{tail(text)}")
    if process.returncode:
        raise OutsideError(f"{name} ended with status {process.returncode}:\n{tail(text)}")
    return text
