"""Makes a Job from a user's arguments, for both the Python interface and the command line.

The interface:

    make_job(machine, workload, threads, ...)    a complete, checked job
    searched(job, within)                        the job with a search for the lengths of its runs
    unsearchable(job)                            the reason why these lengths cannot be searched
    usual_seeds(name)                            the seeds of a run if the user gives none
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from uncore import engine, program, topology
from uncore.errors import UserError
from uncore.job import Job
from uncore.job.forms import FIRST_SEED, REPEATS
from uncore.job.job import DURATION_PARAMETER, OPS_PARAMETER
from uncore.job.placement import place, thread_counts
from uncore.job.schema import options
from uncore.program import Program
from uncore.topology.machine import Machine
from uncore.topology.schema import DEFAULT_LINE_BYTES

Value = str | int | float | bool  # "50ns"
NOTHING: Mapping[str, Any] = {}
Counts = str | int | Iterable[int]  # "1,2,4..128", 4, [1, 2, 4]
USUAL_WITHIN = 50_000  # default width of the interval, in millionths of the rate
LINE_PARAMETER = "line_bytes"  # parameter of workloads/include/line.h


def usual_seeds(name: str, repeats: int = REPEATS) -> tuple[int, ...]:
    """Returns the seeds of a run if the user gives none: `repeats` consecutive ones, or none on an
    engine without random draws.
    """
    return tuple(range(FIRST_SEED, FIRST_SEED + repeats)) if engine.draws(name) else ()


def make_job(
    machine: str | Machine,
    workload: str | Path | Program,
    threads: Counts = (1,),
    *,
    parameters: Mapping[str, Any] = NOTHING,
    overrides: Mapping[str, Value] = NOTHING,
    seeds: Iterable[int] | None = (),
    within: str | int | None = 0,
    slow: bool = False,
    **policies: Any,
) -> Job:
    """Makes a Job from names; it runs in lockstep unless seeds are given.

    None for `seeds` or `within` means the default of `uncore run`. `policies` are other fields of
    Job that have an option, as Python values (job/forms.py). `slow` allows more harts than the
    engine runs in reasonable time.
    """
    if isinstance(machine, str):
        resolved = topology.load(machine, [f"{key}={value}" for key, value in overrides.items()])
    elif overrides:
        raise UserError("overrides apply to a machine given by name, not to one already resolved")
    else:
        resolved = machine
    fields = {name: _option_value(name, value) for name, value in policies.items()}
    width = within if within is None else _option_value("within", within)
    fields["seeds"] = usual_seeds(fields.get("engine", "native")) if seeds is None else tuple(seeds)
    guest = find_program(workload)
    values = guest.canonical(_line_parameter(resolved, guest) | dict(parameters))
    if isinstance(threads, (str, int)):
        available = len(
            place(resolved, fields.get("placement", "compact"), fields.get("smt", True))
        )
        threads = thread_counts(str(threads), available)
    job = Job(
        machine=resolved,
        program=guest,
        threads=tuple(threads),
        overrides=tuple(sorted((key, str(value)) for key, value in overrides.items())),
        parameters=tuple(sorted(values.items())),
        **fields,
    )
    job = searched(job, width)
    if not slow:
        engine.refuse_slow(job)
    return job


def searched(job: Job, within: int | None) -> Job:
    """Returns the job with a search for the lengths of its runs.

    `within` is the width of the interval in millionths of the rate. 0 means no search, and None the
    default width if the lengths can be searched.
    """
    if within == 0:
        return job
    obstacle = unsearchable(job)
    if within and obstacle:
        raise UserError(f"--within {within / 10_000:g}%: {obstacle}")
    return job if obstacle else replace(job, within=within or USUAL_WITHIN)


def unsearchable(job: Job) -> str:
    """Returns the reason why the lengths of the job's runs cannot be searched, with its remedy; ""
    if they can.
    """
    names = {parameter.name for parameter in job.program.params}
    fixed_lengths = [
        name for name, _ in job.parameters if name in (OPS_PARAMETER, DURATION_PARAMETER)
    ]
    if not {OPS_PARAMETER, DURATION_PARAMETER} <= names:
        return (
            f"{job.program.name} has no parameter '{OPS_PARAMETER}', so it says itself how long it"
            " runs; leave --within out"
        )
    if fixed_lengths:
        return f"finds out how long runs are; leave --set {fixed_lengths[0]}= out"
    if not job.seeds:
        return "in lockstep all runs are the same; leave --seed none out"
    if "pace" not in engine.load(job.engine).OBSERVERS:
        return f"engine '{job.engine}' does not tell when operations are done; leave --within out"
    return ""


def _line_parameter(machine: Machine, guest: Program) -> dict[str, Any]:
    """Returns the parameter that passes the size of wide lines to a program that pads its data
    itself (workloads/include/line.h).
    """
    takes_line_size = any(parameter.name == LINE_PARAMETER for parameter in guest.params)
    return (
        {LINE_PARAMETER: machine.line}
        if takes_line_size and machine.line != DEFAULT_LINE_BYTES
        else {}
    )


def _option_value(name: str, value: Any) -> Any:
    if name not in options(Job):
        raise TypeError(f"a job has no option '{name}'")
    return options(Job)[name].form.take(name, value)


def find_program(
    workload: str | Path | Program, sources: tuple[Path, ...] = (), flags: tuple[str, ...] = ()
) -> Program:
    """Loads a shipped workload by its name, an ELF file, or a source file, which is compiled.

    `sources` are further source files of a Linux program, and `flags` options for its compiler.
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
