"""Runs a program with main() on this computer: compiles the same sources for its processors.

    measure(sources, threads, words) -> Result    runs each thread count, one after the other

This module serves Linux programs as pinned.py serves workloads: N threads get the first N
processors of this computer, and the result has the same schema as a simulated one.  The C library
is the same; workloads/runtime/counted counts operations, and a program without marks counts as one
operation.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from uncore.engine import tasks
from uncore.execution.execute import host_part
from uncore.host import pinned
from uncore.program import build, elf_of
from uncore.result.schema import Outcome, Point, Result
from uncore.support import paths

ABOUT = "this computer: the same program, compiled for it"
COUNTING_SOURCE = paths.WORKLOADS / "runtime/counted/hints.c"


@dataclass(frozen=True)
class Sources:
    """Sources of a program: its main file, other files, and options for the compiler."""

    main: Path
    others: tuple[Path, ...] = ()
    flags: tuple[str, ...] = ()


def measure(sources: Sources, threads: Sequence[int], words: Sequence[str] = ()) -> Result:
    """Runs the program at each thread count, on as many processors as threads; raises a UserError
    if there are fewer processors.
    """
    cpus = pinned.room_for(threads)
    started = datetime.now(UTC).isoformat(timespec="seconds")
    binary = compile(sources)
    points, seconds = [], []
    for count in threads:
        begin = time.perf_counter()
        command = [word.replace("{threads}", str(count)) for word in words]
        points.append(msgspec.convert(run(binary, cpus[:count], command), Point))
        seconds.append(round(time.perf_counter() - begin, 3))
    sha256 = hashlib.sha256(binary.read_bytes()).hexdigest()
    job = pinned.job_document(sources.main.stem, sha256, cpus, threads)
    return Result(
        job=job | {"arguments": [*words]},
        outcome=Outcome(points=points),
        host=host_part(ABOUT, started, seconds, sources.main),
    )


def compile(sources: Sources) -> Path:
    """Compiles the program for this computer. The result is cached like programs for machines."""
    counter = paths.CACHE / "host/counted.o"
    build.build_object(COUNTING_SOURCE, counter)
    flags = ("-DUNCORE_COUNTED", *sources.flags)
    binary = elf_of(sources.main, sources.others, flags, build.HOST_TARGET)
    files = [file.resolve() for file in (sources.main, *sources.others)]
    build.build_for_linux([*files, counter], binary, flags, build.HOST_TARGET)
    return binary


def run(binary: Path, cpus: Sequence[int], words: Sequence[str]) -> dict[str, Any]:
    """Runs the program with one thread per processor; returns the fields of a Point."""
    with tempfile.TemporaryFile() as output:
        begin = time.perf_counter()
        running = subprocess.Popen(
            [str(binary), *words],
            env={**os.environ, "UNCORE_TOLD": str(output.fileno())},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            pass_fds=(output.fileno(),),
            preexec_fn=lambda: os.sched_setaffinity(0, cpus),
        )
        with running:
            try:
                printed, _ = running.communicate()
            except BaseException:
                running.kill()
                raise
        elapsed_ns = round((time.perf_counter() - begin) * 1e9)
        output.seek(0)
        rows_of_numbers = [[*map(int, line.split())] for line in output]
    fields = {
        "threads": len(cpus),
        "output": printed.decode(errors="replace")[-tasks.MAX_OUTPUT_LETTERS :],
    }
    return fields | _times(rows_of_numbers or [[elapsed_ns]]) | _failure_fields(running.returncode)


def _times(rows_of_numbers: Sequence[Sequence[int]]) -> dict[str, Any]:
    """Returns the fields of a Point that follow from times in ns: the whole time, and each thread's
    operations and span.
    """
    (run_ns,), *threads = rows_of_numbers
    threads = threads or [[1, 0, run_ns]]
    begin = min(began for _, began, _ in threads)
    spans = [((began - begin) * 1000, (ended - begin) * 1000) for _, began, ended in threads]
    return {
        "ops": sum(operations for operations, *_ in threads),
        "elapsed_ps": max(ended for _, ended in spans),
        "thread_ops": [operations for operations, *_ in threads],
        "thread_ps": spans,
    }


def _failure_fields(status: int) -> dict[str, Any]:
    """Returns a failure if the status is not 0; a signal gives 128 plus its number, as in
    shells.
    """
    status = status if status >= 0 else 128 - status
    return pinned.unknown() | {"failures": [f"exit status {status}"] if status else []}
