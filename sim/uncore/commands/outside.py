"""Other simulators: what is written for them, and how they compare."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from uncore.commands import FAILED, OK, PLACED, Json, Placed, Set, Threads, With, app, note
from uncore.errors import UserError

DEFAULT = ("native", "reference", "sst")  # to crosscheck


@app.command
def export(
    simulator: Annotated[Literal["sst", "gem5"], Parameter(help="for whom")],
    machine: str,
    workload: str,
    *,
    output: Annotated[Path, Parameter(name=["--output", "-o"], help="the folder; it must be new")],
    threads: Annotated[str, Parameter(help="how many: one number, or max")] = "max",
    set_: Set = [],  # noqa: B006
    with_: With = [],  # noqa: B006
    choices: Placed = PLACED,
) -> int:
    """Write a job as a folder that another simulator runs by itself."""
    from uncore import engine

    job = choices.job(machine, workload, threads, set_, with_)
    if len(job.threads) != 1:
        raise UserError(f"--threads {threads}: one folder is one run; write one number")
    if output.exists():
        raise UserError(f"--output {output}: there is one already; name a new folder")
    engine.exporter(simulator).export(replace(job, engine=simulator), output)
    note(f"run folder: {output} (README.md says how to run it)")
    return OK


@app.command
def crosscheck(
    machine: str,
    workload: str,
    *,
    engines: Annotated[
        str,
        Parameter(
            help="the first is what the others are compared with; none: native, reference, and sst"
            " where it is found"
        ),
    ] = "",
    threads: Threads = "2",
    set_: Set = [],  # noqa: B006
    with_: With = [],  # noqa: B006
    choices: Placed = PLACED,
    json: Json = False,
) -> int:
    """One job on several engines: what must agree, what should, what differs and why."""
    from uncore import engine
    from uncore.engine import crosscheck as check
    from uncore.report import crosscheck as report
    from uncore.report.progress import progress

    job = choices.job(machine, workload, threads, set_, with_)
    found_here = (name for name in DEFAULT if not engine.load(name).missing())
    names = [name.strip() for name in engines.split(",")] if engines else list(found_here)
    if len(names) < 2 or len(set(names)) < len(names):
        raise UserError(f"--engines {engines}: write at least two different ones")
    if not choices.slow:
        for name in names:
            engine.refuse_slow(replace(job, engine=name))
    with progress(len(job.threads) * len(names), "comparing", "runs") as advance:
        found = check.crosscheck(job, names, lambda: advance(1))
    report.show(found, check.reasons(names), json)
    return FAILED if any(crossed.broken() for crossed in found) else OK
