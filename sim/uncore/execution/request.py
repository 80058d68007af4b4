"""From the words of a user to a Job, for the Python interface and the command line alike.

Interface:

    make_job(machine, workload, threads, ...) -> Job   in lockstep where no seeds are given
    usual_seeds(engine)              the seeds of a run that names none
    executed(jobs, machines, ...)    their results, with the intervals that machines leave open
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from uncore import engine, program, topology
from uncore.engine import NO_OPTIONS, EngineOptions
from uncore.errors import UserError
from uncore.execution.execute import execute
from uncore.execution.pool import Workers
from uncore.execution.uncertainty import DEFAULT_SAMPLES, spread, within
from uncore.job import Job
from uncore.job.forms import FIRST_SEED, REPEATS
from uncore.job.placement import place, thread_counts
from uncore.job.schema import options
from uncore.program import Program
from uncore.result import Result
from uncore.topology.machine import Machine
from uncore.topology.schema import LINE

Value = str | int | float | bool  # "50ns"
NOTHING: Mapping[str, Any] = {}
Counts = str | int | Iterable[int]  # "1,2,4..128", 4, [1, 2, 4]
LINE_PARAMETER = "line_bytes"  # parameter of workloads/include/line.h


def executed(
    jobs: Sequence[Job],
    machines: Sequence[str | Machine],
    *,
    cores: Workers = 1,
    samples: int = DEFAULT_SAMPLES,
    observed: bool = False,
    engine_options: EngineOptions = NO_OPTIONS,
) -> list[Result]:
    """Executes jobs; returns results with at least a point.

    `machines`: the name or machine of each job, from which samples are drawn.
    """
    drawn = spread(machines, jobs, samples)
    probes = frozenset({"lines"} if observed else ())
    all_ = [*jobs, *(job for group in drawn for job in group)]
    results = execute(all_, cores, probes=probes, engine_options=engine_options)
    uncertain = within(results[: len(jobs)], drawn, results[len(jobs) :])
    if finished := [result for result in uncertain if result.points]:
        return finished
    raise KeyboardInterrupt


def usual_seeds(name: str, repeats: int = REPEATS) -> tuple[int, ...]:
    """Seeds of a run that names none: the first `repeats`, or none on an engine without chance."""
    return tuple(range(FIRST_SEED, FIRST_SEED + repeats)) if engine.draws(name) else ()


def make_job(
    machine: str | Machine,
    workload: str | Path | Program,
    threads: Counts = (1,),
    *,
    parameters: Mapping[str, Any] = NOTHING,
    overrides: Mapping[str, Value] = NOTHING,
    slow: bool = False,
    **policies: Any,
) -> Job:
    """A Job from names; in lockstep where no seeds are given.

    `policies`: other fields of Job that have an option, as Python has them (job/forms.py).
    `slow`: allows more harts than the engine runs in reasonable time.
    """
    if isinstance(machine, str):
        resolved = topology.load(machine, [f"{key}={value}" for key, value in overrides.items()])
    elif overrides:
        raise UserError("overrides apply to a machine given by name, not to one already resolved")
    else:
        resolved = machine
    fields = {name: _taken(name, value) for name, value in policies.items()}
    guest = find_program(workload)
    room = len(place(resolved, fields.get("placement", "compact"), fields.get("smt", True)))
    job = Job(
        machine=resolved,
        program=guest,
        threads=_counts(threads, room),
        overrides=tuple(sorted((key, str(value)) for key, value in overrides.items())),
        **fields,
    ).given(_of_the_line(resolved, guest) | dict(parameters))
    if not slow:
        engine.refuse_slow(job)
    return job


def _of_the_line(machine: Machine, guest: Program) -> dict[str, Any]:
    """The parameter that passes wide lines to a program that pads by itself
    (workloads/include/line.h).
    """
    asks = any(parameter.name == LINE_PARAMETER for parameter in guest.params)
    return {LINE_PARAMETER: machine.line} if asks and machine.line != LINE else {}


def _taken(name: str, value: Any) -> Any:
    if name not in options(Job):
        raise TypeError(f"a job has no option '{name}'")
    return options(Job)[name].form.take(name, value)


def _counts(threads: Counts, room: int) -> tuple[int, ...]:
    if isinstance(threads, (str, int)):
        return thread_counts(str(threads), room)
    return tuple(threads)


def find_program(
    workload: str | Path | Program, sources: tuple[Path, ...] = (), flags: tuple[str, ...] = ()
) -> Program:
    """Loads a shipped workload by its name, an ELF file, or a source file, which is compiled.

    `sources`, `flags`: further source files of a Linux program, and its compiler's options.
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
