"""Runs a workload on this computer: compiles the same C file, and pins a thread for each hart.

    measure(workload, threads, parameters) -> Result     runs each thread count, one after the other
    missing() -> str                                     why this computer cannot; "" if it can

This is not one of the engines: it takes no machine, and equal jobs do not give equal outcomes.  But
the program is the same, its records and checks are read like those of another simulator
(program.readback), and the Result has the same schema, so curves can be compared. Fields that
hardware cannot provide are absent, with the reason.
"""

from __future__ import annotations

import hashlib
import os
import platform
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from threading import Thread
from typing import Any

import msgspec

from uncore.errors import GuestError, UserError
from uncore.execution.execute import host_part, processor
from uncore.host import sysfs
from uncore.program import Program, build, readback, source_of
from uncore.result.schema import Outcome, Point, Result, optional
from uncore.support import paths

ABOUT = "this computer: the same C, a hart being a pinned thread"

SYSTEM = Path("/sys/devices/system")
NO_LATENCY_REASON = "the host build takes no time stamp of single operations"
NOT_SHOWN_REASON = "hardware does not tell a program"


def missing() -> str:
    """Returns the reason why workloads cannot run here; pinning threads and switching between
    sleeping ones need Linux on x86-64.
    """
    platform_name = f"{platform.system()} {platform.machine()}"
    if platform_name != "Linux x86_64":
        return f"the host build knows Linux x86_64, this is {platform_name}"
    return ""


def measure(
    workload: Program, threads: Sequence[int], parameters: Mapping[str, Any] | None = None
) -> Result:
    """Runs the workload at each thread count, on as many CPUs as threads; raises a UserError if
    there are fewer CPUs.
    """
    if obstacle := missing():
        raise UserError(f"--host: {obstacle}")
    cpus = room_for(threads)
    values = workload.canonical(parameters or {})
    started = datetime.now(UTC).isoformat(timespec="seconds")
    source = source_of(workload)
    binary = compile(source)
    points, seconds = [], []
    for count in threads:
        begin = time.perf_counter()
        points.append(msgspec.convert(run(binary, workload, cpus[:count], values), Point))
        seconds.append(round(time.perf_counter() - begin, 3))
    job = job_document(workload.name, workload.sha256, cpus, threads)
    job["parameters"] = sorted(values.items())
    return Result(
        job=msgspec.to_builtins(job),
        outcome=Outcome(points=points),
        host=host_part(ABOUT, started, seconds, source),
    )


def room_for(threads: Sequence[int]) -> list[int]:
    """Returns the CPUs; raises a UserError if they are fewer than the largest thread count."""
    cpus = processors()
    if max(threads) > len(cpus):
        raise UserError(
            f"--threads {max(threads)}: this process may use {len(cpus)} CPUs; write at most that"
        )
    return cpus


def job_document(
    name: str, sha256: str, cpus: Sequence[int], threads: Sequence[int]
) -> dict[str, Any]:
    """Returns the document of a run, with the same fields as that of a simulated job."""
    return {
        "machine": {"id": "host", "name": processor(), "cpus": [*cpus]},
        "program": {"name": name, "sha256": sha256},
        "threads": [*threads],
        "placement": "compact",
        "smt": True,
        "home": "addressed",
        "slices": "hash",
        "parameters": [],
        "overrides": [],
        "engine": "host",
    }


def processors() -> list[int]:
    """Returns the CPUs that this process may use, in the order in which harts are placed.

    The order is that of a simulated machine's compact placement: first one thread of each core,
    socket after socket, and then the siblings.
    """
    allowed = os.sched_getaffinity(0)
    try:
        return sysfs.read(only=allowed).compact()
    except UserError:  # as in a container that hides /sys
        return sorted(allowed)


def compile(source: Path, for_: build.Target = build.HOST, defines: Sequence[str] = ()) -> Path:
    """Compiles the program for this computer, into the cache of compiled guests."""
    digest = hashlib.sha256(f"{source.resolve()} {for_} {defines}".encode()).hexdigest()[:16]
    binary = paths.CACHE / "host" / digest / source.stem
    build.build(source, binary, defines, for_)
    return binary


def run(
    binary: Path, workload: Program, cpus: Sequence[int], values: Mapping[str, str]
) -> dict[str, Any]:
    """Runs the workload with one thread per CPU; returns the fields of a Point."""
    numbers = {name: workload.parameter(name).parse(value) for name, value in values.items()}
    return play(binary, workload.name, cpus, numbers)


def play(
    binary: Path,
    name: str,
    cpus: Sequence[int],
    numbers: Mapping[str, int],
    tick: Callable[[], None] | None = None,
) -> dict[str, Any]:
    """Runs any program compiled for the host; `tick` is called after each part that it
    completes.
    """
    words = [f"n={len(cpus)}", *(f"{name}={number}" for name, number in numbers.items())]
    nodes = len(list(SYSTEM.glob("node/node[0-9]*"))) or 1
    variables = {"UNCORE_CPUS": ",".join(map(str, cpus)), "UNCORE_NODES": str(nodes)}
    read_end, write_end = os.pipe()
    with subprocess.Popen(
        [str(binary), *words],
        env={**os.environ, **variables} | ({"UNCORE_PROGRESS": str(write_end)} if tick else {}),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        pass_fds=(write_end,) if tick else (),
        text=True,
    ) as running:
        os.close(write_end)
        try:
            listener = Thread(target=_listen, args=(read_end, tick))
            listener.start()
            console, _ = running.communicate()
        except BaseException:
            running.kill()
            raise
        finally:
            running.wait()
            listener.join()
    return point(name, console, running.returncode)


def _listen(read_end: int, tick: Callable[[], None] | None) -> None:
    with open(read_end, "rb", buffering=0) as pipe:
        while byte := pipe.read(1):
            if tick and byte:
                tick()


def point(name: str, console: str, status: int) -> dict[str, Any]:
    """Returns the fields of a Point from a run's printed records."""
    records = readback.records_from_text(console)
    failures = [record.why for record in records if record.failures]
    if not records or (status and not failures):
        raise GuestError(f"{name} ended with status {status} on this computer: {console.strip()}")
    return readback.fields(records, readback.tables_from_text(console)) | unknown()


def unknown() -> dict[str, Any]:
    """Returns the fields of a point that hardware cannot provide, empty and with their reason."""
    empty = optional()
    absent = dict.fromkeys(empty, NOT_SHOWN_REASON) | {"latency": NO_LATENCY_REASON}
    return dict.fromkeys(empty) | {"absent": absent}
