"""From the words of a user to a Job, for the Python interface and the command line alike.

Interface:

    make_job(machine, workload, threads, ...) -> Job   in lockstep where no seeds are given
    usual_seeds(engine)              the seeds of a run that names none
    executed(jobs, machines, ...)    their results, with the intervals that machines leave open
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypedDict, Unpack

from uncore import engine, program, topology
from uncore.engine import NOTHING as UNTOLD
from uncore.engine import Told
from uncore.errors import UserError
from uncore.execution.execute import execute
from uncore.execution.pool import Workers
from uncore.execution.uncertainty import spread, within
from uncore.job import Job
from uncore.job.option_values import duration
from uncore.job.placement import place, thread_counts
from uncore.program import Program
from uncore.result import Result
from uncore.topology.machine import Machine

System = Literal["machine", "free"]
Folder = str | Path | Mapping[str, str | bytes]  # or names and contents
Value = str | int | float | bool  # "50ns"
NOTHING: Mapping[str, Any] = {}
Counts = str | int | Iterable[int]  # "1,2,4..128", 4, [1, 2, 4]
FIRST_SEED, REPEATS = 1, 3


class Policies(TypedDict, total=False):
    """The fields of Job that say how a program is run, as they are there."""

    placement: str
    smt: bool
    home: str
    slices: str
    engine: str
    watchdog: int
    seeds: tuple[int, ...]
    arguments: tuple[str, ...]
    files: tuple[tuple[str, bytes], ...]
    system: System


def common(
    watchdog: str | int, arguments: Iterable[str], files: Folder, system: System
) -> dict[str, Any]:
    """Fields of a Job from what is no axis of a sweep."""
    if isinstance(files, Mapping):
        found = {name: one.encode() if isinstance(one, str) else one for name, one in files.items()}
        held = tuple(sorted(found.items()))
    else:
        held = program.read_folder(Path(files))
    return {
        "watchdog": watchdog if isinstance(watchdog, int) else duration("watchdog", watchdog),
        "arguments": tuple(arguments),
        "files": held,
        "system": system,
    }


def executed(
    jobs: Sequence[Job],
    machines: Sequence[str | Machine],
    cores: Workers,
    samples: int,
    *,
    observed: bool = False,
    told: Told = UNTOLD,
) -> list[Result]:
    """Of what has any; `machines`: by what each job's was asked for."""
    drawn = spread(machines, jobs, samples)
    probes = frozenset({"lines"} if observed else ())
    all_ = [*jobs, *(job for group in drawn for job in group)]
    results = execute(all_, cores, probes=probes, told=told)
    known = within(results[: len(jobs)], drawn, results[len(jobs) :])
    if found := [one for one in known if one.points]:
        return found
    raise KeyboardInterrupt


def usual_seeds(name: str, repeats: int = REPEATS) -> tuple[int, ...]:
    """As many as repeats, the first ones; none where the engine leaves nothing to chance."""
    return tuple(range(FIRST_SEED, FIRST_SEED + repeats)) if engine.draws(name) else ()


def make_job(
    machine: str | Machine,
    workload: str | Path | Program,
    threads: Counts = (1,),
    *,
    parameters: Mapping[str, Any] = NOTHING,
    overrides: Mapping[str, Value] = NOTHING,
    slow: bool = False,
    **policies: Unpack[Policies],
) -> Job:
    """A Job from names; in lockstep where no seeds are given.

    `slow`: more harts than the engine runs in reasonable time are wanted all the same.
    """
    if isinstance(machine, str):
        resolved = topology.load(machine, [f"{key}={value}" for key, value in overrides.items()])
    elif overrides:
        raise UserError("overrides apply to a machine given by name, not to one already resolved")
    else:
        resolved = machine
    found = find_program(workload)
    room = len(place(resolved, policies.get("placement", "compact"), policies.get("smt", True)))
    if isinstance(threads, (str, int)):
        counts = thread_counts(str(threads), room)
    else:
        counts = tuple(threads)
    job = Job(
        machine=resolved,
        program=found,
        threads=counts,
        overrides=tuple(sorted((key, str(value)) for key, value in overrides.items())),
        **policies,
    ).given(parameters)
    if not slow:
        engine.refuse_slow(job)
    return job


def find_program(
    workload: str | Path | Program, sources: tuple[Path, ...] = (), flags: tuple[str, ...] = ()
) -> Program:
    """A shipped workload's name, an ELF file, or a source file, which is compiled and kept.

    `sources`, `flags`: what a program of Linux is compiled of beside, and the compiler's words.
    """
    if isinstance(workload, Program):
        return workload
    path = Path(workload)
    if path.suffix in program.LINUX_SUFFIXES and program.is_for_linux(path, bool(sources or flags)):
        return program.compile_for_linux(path, sources, flags)
    if sources or flags:
        raise UserError(
            f"{workload}: --source, --cflags and --include are for a source file with main()"
        )
    if path.suffix == ".c":
        return program.compile(path)
    if path.suffix == ".elf" or path.is_file():
        return program.load(path)
    return program.find(str(workload))
