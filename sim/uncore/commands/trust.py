"""Why the answers can be believed: validate, claims, check, litmus, diff-engines."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter, validators

from uncore.commands import (
    FAILED,
    OK,
    PLACED,
    Cores,
    Json,
    Placed,
    Set,
    Threads,
    With,
    app,
    workers,
)


@app.command
def validate(
    *machines: str,
    all_: Annotated[
        bool, Parameter(name="--all", negative="", help="every experiment, not handoffs alone")
    ] = False,
    only: Annotated[str, Parameter(help="one experiment by name")] = "",
    matrices: Annotated[Path | None, Parameter(help="directory of measured matrices")] = None,
    matrix: Annotated[Path | None, Parameter(help="a matrix of yours, of the one machine")] = None,
    home: Annotated[str, Parameter(help="with --matrix: node0, node1, ... or pair")] = "",
    page: Annotated[Path | None, Parameter(help="write docs/validation.md into this file")] = None,
    cores: Cores = 0,
    json: Json = False,
) -> int:
    """Simulated against measured, with errors; exit status 1 past the stated bounds."""
    from uncore import validate as validation
    from uncore.validate.section import Request

    request = Request(machines, matrices, matrix, home, workers(cores), pictures=page is not None)
    return int(validation.main(request, only=only, everything=all_, page_path=page, json=json))


@app.command
def ktr(
    trace: Annotated[Path, Parameter(help="a text as ktrdump prints it")],
    machine: Annotated[str, Parameter(help="that the trace is laid beside")] = "athlonx2-3800",
    *,
    record: Annotated[
        float, Parameter(validator=validators.Number(gte=0), help="ns that each record cost")
    ] = 0.0,
    with_: With = [],  # noqa: B006
    json: Json = False,
) -> int:
    """A DragonFly kernel trace: each event's intervals, and the simulated one beside them."""
    from uncore.report.table import emit
    from uncore.validate import ktr as traces
    from uncore.words import pairs

    records = traces.read(trace)
    rows = traces.compare(records, machine, dict(pairs("--with", with_)), record)
    emit(rows, json, traces.COLUMNS, f"{trace.name} beside {machine}: intervals between records")
    return OK


@app.command
def claims(
    *ids: Annotated[str, Parameter(help="claims by name; none: all of them")],
    cores: Cores = 0,
    page: Annotated[Path | None, Parameter(help="write docs/claims.md into this file")] = None,
    json: Json = False,
) -> int:
    """What articles measured, asked of the simulator: expected, got, verdict, and why."""
    from uncore import claims as asking

    return int(asking.main(ids, workers(cores), json=json, page=page))


@app.command
def check(
    *protocols: Annotated[str, Parameter(help="msi, mesi, mesif, moesi; none: msi and mesi")],
    all_: Annotated[bool, Parameter(name="--all", negative="", help="all, and longer")] = False,
    mutants: Annotated[
        bool, Parameter(negative="", help="break every cell in turn: do the proofs notice?")
    ] = False,
    json: Json = False,
) -> int:
    """Walk the protocol's tables exhaustively and at random; exit status 1 on a violation."""
    from uncore.protocol import check, mutate
    from uncore.protocol.shapes import PROTOCOLS

    if mutants:
        return int(mutate.main(protocols or PROTOCOLS, json=json))
    return int(check.main(protocols, everything=all_, json=json))


@app.command
def litmus(
    *shapes: Annotated[str, Parameter(help="MP, SB, LB, ... IRIW; none: all of them")],
    rounds: Annotated[
        int, Parameter(validator=validators.Number(gt=0), help="of each test on each machine")
    ] = 50,
    seed: Annotated[int, Parameter(validator=validators.Number(gte=0), help="repeats a run")] = 1,
    cores: Cores = 0,
    json: Json = False,
) -> int:
    """Outcomes of litmus tests against the memory model; exit status 1 on a forbidden one."""
    from uncore.litmus import run

    return int(run.main(shapes, rounds=rounds, seed=seed, cores=workers(cores), json=json))


@app.command
def diff_engines(
    machine: str,
    workload: str,
    *,
    threads: Threads = "1",
    set_: Set = [],  # noqa: B006
    with_: With = [],  # noqa: B006
    choices: Placed = PLACED,
    against: Annotated[str, Parameter(help="the engine to compare --engine with")] = "reference",
    json: Json = False,
) -> int:
    """Two engines' transaction logs, record by record; exit status 1 on the first difference."""
    from uncore.engine import agreement, refuse_slow
    from uncore.report import agreement as report
    from uncore.report.progress import progress

    job = choices.job(machine, workload, threads, set_, with_)
    if not choices.slow:
        refuse_slow(replace(job, engine=against))
    engines = (job.engine, against)
    with progress(len(job.threads), "comparing", "jobs") as advance:
        found = []
        for count in job.threads:
            found.append(agreement.compare(job.at(count), engines))
            advance(1)
    report.show(found, engines, json)
    return OK if all(one.equal for one in found) else FAILED
