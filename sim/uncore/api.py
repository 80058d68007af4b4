"""The Python interface, and the one way from words to a Job for the command line too.

Interface:

    run(machine, workload, threads=[1, 2, 4], hold="50ns") -> Result
    load_result(path) -> Result
    load_all(path) -> Results     of a file that may hold several
    make_job(...) -> Job          what run would execute; in lockstep, if no seeds are given
    usual_seeds(engine)           what run, and the command line, take if none are given
    executed(jobs, names, ...)    their results, with the intervals that machines leave open
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypedDict, Unpack

from uncore import engine, program, topology
from uncore.engine import NOTHING as UNTOLD
from uncore.engine import Told
from uncore.errors import UserError
from uncore.execute import execute
from uncore.job import Job
from uncore.placement import place, thread_counts
from uncore.pool import Workers
from uncore.program import Program
from uncore.result import Result, Results, load
from uncore.result import load_all as load_several
from uncore.topology.machine import Machine
from uncore.uncertain import SAMPLES, spread, within
from uncore.words import duration

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


def run(
    machine: str | Machine,
    workload: str | Path | Program,
    threads: Counts = (1,),
    *,
    parameters: Mapping[str, Value] = NOTHING,
    overrides: Mapping[str, Value] = NOTHING,
    placement: str = "compact",
    smt: bool = True,
    home: str = "addressed",
    slices: str = "hash",
    engine: str = "native",
    watchdog: str | int = "100ms",
    seeds: Iterable[int] | None = None,
    arguments: Iterable[str] = (),
    files: Folder = NOTHING,
    system: System = "machine",
    samples: int = SAMPLES,
    cores: Workers = 1,
    slow: bool = False,
    observed: bool = False,
    told: Told = UNTOLD,
    **named: Value,
) -> Result:
    """Runs a workload at each thread count, as often as there are seeds.

    Keywords that are no option are the workload's parameters, hold="50ns"; `parameters` takes
    them, too.  `overrides`: numbers of the machine, by the keys of `uncore show --keys`.  `seeds`:
    (17, 18), or () for one run in lockstep.  Of a program of Linux, `arguments` are its words and
    `files` what it finds as /files, a folder, or names and contents; a `system` that is free costs
    nothing.  `samples`: machines drawn for `Result.intervals`, where numbers of the file have some.
    `cores`: of this host, or a cluster (`uncore.cluster.connected`).  `observed` keeps what `uncore
    lines` shows.  `told`: {"sst_threads": 4}.  Interrupted, it returns what is finished, partial.
    """
    values: Any = {"parameters": {**parameters, **named}, "overrides": overrides}
    policies: Any = {"placement": placement, "smt": smt, "home": home, "slices": slices}
    policies |= common(watchdog, arguments, files, system) | {"engine": engine, "slow": slow}
    policies["seeds"] = usual_seeds(engine) if seeds is None else tuple(seeds)
    job = make_job(machine, workload, threads, **values, **policies)
    return executed([job], [machine], cores, samples, observed=observed, told=told)[0]


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


def load_result(path: str | Path) -> Result:
    """Reads a saved result."""
    return load(Path(path))


def load_all(path: str | Path) -> Results:
    """Reads the results of a file that may hold several: of a run of several machines, say."""
    return load_several(Path(path))
