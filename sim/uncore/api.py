"""The Python interface, and the one way from words to a Job for the command line too.

Interface:

    run(machine, workload, threads=[1, 2, 4], hold="50ns") -> Result
    repeats(result)               by thread count: the median run, the least and the most
    load_result(path) -> Result
    load_all(path) -> Results     of a file that may hold several
    make_job(...) -> Job          what run would execute; in lockstep, if no seeds are given
    usual_seeds(engine)           what run, and the command line, take if none are given
    job_again(result) -> Job      the job a result came from
    observe(result) -> Observed   what touched which line in it
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal, TypedDict, Unpack

import msgspec

from uncore import engine, program, topology
from uncore.engine import NOTHING as UNTOLD
from uncore.engine import Told
from uncore.errors import UserError
from uncore.execute import execute
from uncore.job import Job
from uncore.placement import place, thread_counts
from uncore.pool import Workers
from uncore.program import Program
from uncore.result import Observed, Point, Repeats, Result, Results, canonical, load, repeats
from uncore.result import load_all as load_several
from uncore.topology.machine import Machine
from uncore.words import duration

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
    system: Literal["machine", "free"]


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
    cores: Workers = 1,
    slow: bool = False,
    observed: bool = False,
    told: Told = UNTOLD,
    **named: Value,
) -> Result:
    """Runs a workload at each thread count, as often as there are seeds.

    Keywords that are none of the options here are the workload's parameters, hold="50ns";
    `parameters` takes them, too.  `overrides` are numbers of the machine, by the keys of `uncore
    show --keys`.  `seeds`: (17, 18), or () for one run in lockstep.  `cores` is how many of the
    host's may work, or a cluster (`uncore.cluster.connected`).  `observed` keeps what `uncore
    lines` shows.  `told` says how engines are run: {"sst_threads": 4}.  Interrupted, it returns
    what is finished, marked partial.
    """
    values: Any = {"parameters": {**parameters, **named}, "overrides": overrides}
    policies: Any = {"placement": placement, "smt": smt, "home": home, "slices": slices}
    waits = watchdog if isinstance(watchdog, int) else duration("watchdog", watchdog)
    drawn = usual_seeds(engine) if seeds is None else tuple(seeds)
    chosen: Any = {"engine": engine, "watchdog": waits, "seeds": drawn, "slow": slow}
    job = make_job(machine, workload, threads, **values, **policies, **chosen)
    probes = frozenset({"lines"} if observed else ())
    result = execute([job], cores, probes=probes, told=told)[0]
    if not result.points:
        raise KeyboardInterrupt
    return result


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
    if path.suffix in program.LINUX_SUFFIXES and program.is_for_linux(path):
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


class _Recorded(msgspec.Struct):
    """A program in a job's document."""

    name: str
    sha256: str


def job_again(result: Result) -> Job:
    """The job of a result: its machine as recorded, its program found again and compared."""
    try:
        recorded = msgspec.convert(result.job.get("program"), _Recorded)
    except msgspec.ValidationError as error:
        raise UserError(f"job.program: {error}") from None
    if result.job.get("engine") == "host":
        raise UserError(
            "this result was measured on hardware, which does not repeat itself; write"
            f" uncore run --host {recorded.name} to measure again"
        )
    shipped = recorded.name in program.catalogue()
    found = find_program(recorded.name if shipped else result.host.program)
    if found.sha256 != recorded.sha256:
        raise UserError(
            f"{found.path}: the program is not the one of the result (SHA-256 {found.sha256[:12]},"
            f" recorded {recorded.sha256[:12]}): the outcome cannot be reproduced from it"
        )
    job = Job.of(result.job, found)
    if job.since:
        raise UserError(
            "this result went on from a saved run with other parameters: no job alone gives it;"
            " write uncore run --from FILE"
        )
    return job


def observe(
    result: Result, threads: int | None = None, seed: int | None = None, told: Told = UNTOLD
) -> Observed:
    """What the probe `lines` sees of one point: of the last thread count if none is named, and of
    its repeats the median if no seed is.

    A result that was recorded without it is run again; as runs repeat, so must its outcome.
    """
    point = _chosen(repeats(result), threads, seed)
    run = (point.threads, point.seed)
    seen = [one for one in result.observed if (one.threads, one.seed) == run]
    if seen and isinstance(seen[0].path_ps, int):
        return seen[0]
    again = execute([job_again(result).at(*run)], probes=frozenset({"lines"}), told=told)[0]
    if not again.points:
        raise KeyboardInterrupt
    if canonical(again.points[0].as_kept_by(point)) != canonical(point):
        raise UserError(
            f"the point at {point.threads} threads{point.by_seed} comes out differently now (its"
            f" result is of uncore {result.host.uncore}): what cost it its time then cannot be"
            " told; run it anew"
        )
    return again.observed[0]


def _chosen(all_: list[Repeats], threads: int | None, seed: int | None) -> Point:
    if not all_:
        raise UserError("the result has no finished point to look at; run its job again")
    found = [same for same in all_ if threads in (None, same.threads)]
    if not found:
        counts = ", ".join(str(same.threads) for same in all_)
        raise UserError(f"--threads {threads}: the result has {counts}")
    if seed is None:
        return found[-1].median
    points = {point.seed: point for point in found[-1].points}
    if seed not in points:
        seeds = ", ".join(str(known) for known in points if isinstance(known, int)) or "none"
        raise UserError(f"--seed {seed}: the result's are {seeds}")
    return points[seed]
