"""The uncore command: words in, tables and pictures out.

    list  engines  show  run  sweep  matrix  validate  check  demo

Exit status: 0 ok, 1 a check or bound failed, 2 the user's mistake, 3 an outside simulator failed,
130 interrupted with the finished part written.  Commands hold no knowledge of their own: they turn
words into a Job, execute it and hand the Result to a report.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import App, CycloptsError, Parameter

import uncore
from uncore.errors import GuestError, UncoreError, UserError
from uncore.words import axes, check_endings, pairs

# Modules a command needs are imported inside it: `uncore list` should not load a plotting library.

OK, FAILED, MISTAKE, INTERRUPTED = 0, 1, 2, 130

app = App(
    name="uncore", help="A cache-coherence and topology simulator.", version=uncore.__version__
)

Threads = Annotated[str, Parameter(help="thread counts: 1,2,4..128 (4..128 doubles), or max")]
Set = Annotated[
    list[str], Parameter(name="--set", negative="", help="NAME=VALUE: a workload's parameter")
]
With = Annotated[
    list[str], Parameter(name="--with", negative="", help="KEY=VALUE: a number of the machine")
]
Json = Annotated[bool, Parameter(name="--json", negative="", help="rows as JSON, keys documented")]
Plot = Annotated[Path | None, Parameter(help="draw into this file (.png, .svg, .pdf)")]
Cores = Annotated[int, Parameter(help="cores of this host to use; 0: all of them")]


@Parameter(name="*")
@dataclass(frozen=True)
class Choices:
    """What every command that simulates lets the user choose."""

    smt: Annotated[Literal["on", "off"], Parameter(help="second hardware threads")] = "on"
    home: Annotated[
        str,
        Parameter(
            help="where memory lives: addressed, node0, node1, ..., interleave, first-touch, pair"
        ),
    ] = "addressed"
    slices: Annotated[str, Parameter(help="hash, or the slice that owns every line")] = "hash"
    engine: Annotated[str, Parameter(help="one of `uncore engines`")] = "native"

    def policies(self) -> dict[str, Any]:
        """As fields of a Job."""
        return {**asdict(self), "smt": self.smt == "on"}


@Parameter(name="*")
@dataclass(frozen=True)
class Placed(Choices):
    """The same, and where threads run."""

    placement: Annotated[
        str,
        Parameter(name="--place", help="compact, scatter, siblings, or harts such as 0-3,8"),
    ] = "compact"


CHOICES, PLACED = Choices(), Placed()


@app.command(name="list")
def list_(*, json: Json = False) -> int:
    """Topologies, workloads and engines, each with one line."""
    from uncore import engine, program, topology
    from uncore.report.table import Column, emit

    rows = [
        {"kind": "topology", "name": n, "about": about} for n, about in topology.list_machines()
    ]
    rows += [{"kind": "workload", "name": p.name, "about": p.summary} for p in program.shipped()]
    rows += [{"kind": "engine", "name": n, "about": engine.load(n).ABOUT} for n in engine.names()]
    emit(rows, json, [Column(key, key, left=True) for key in ("kind", "name", "about")])
    return OK


@app.command
def engines(*, json: Json = False) -> int:
    """What is installed, and what each engine can do here."""
    from uncore import engine
    from uncore.report.table import Column, emit

    modules = {name: engine.load(name) for name in engine.names()}
    rows = [
        {"engine": n, "missing": m.missing(), "about": m.ABOUT, "gives": sorted(m.GIVES)}
        for n, m in modules.items()
    ]
    columns = [
        Column("engine", "engine", left=True),
        Column("here", lambda row: row["missing"] or "ready", left=True),
        Column("about", "about", left=True),
        Column("gives", lambda row: " ".join(row["gives"]), left=True),
    ]
    emit(rows, json, columns)
    return OK


@app.command
def show(
    machine: str,
    *,
    keys: Annotated[
        bool, Parameter(negative="", help="only the numbers --with can change")
    ] = False,
    with_: With = [],  # noqa: B006
    plot: Plot = None,
    json: Json = False,
) -> int:
    """A machine as a tree, its resolved numbers with their sources, and a drawing."""
    from uncore import topology
    from uncore.report.table import Column, emit

    check_endings({"--plot": plot})
    resolved = topology.load(machine, with_)
    if not (keys or json):
        print(topology.draw(resolved, plot), end="\n\n")
    rows = [
        {"key": n.key, "value": n.text, "source": n.source, "file": n.file, "line": n.line}
        for n in resolved.numbers
    ]
    columns = [Column(key, key, left=True) for key in ("key", "value", "source")]
    emit(rows, json, [*columns, Column("where", _where, left=True)])
    return OK


def _where(row: Any) -> str:
    return f"{Path(row['file']).name}:{row['line']}" if row["file"] else "-"


@app.command
def run(
    *words: Annotated[str, Parameter(help="machines, then one workload (name, .c or .elf file)")],
    threads: Threads = "1",
    set_: Set = [],  # noqa: B006
    with_: With = [],  # noqa: B006
    choices: Placed = PLACED,
    cores: Cores = 0,
    plot: Plot = None,
    output: Annotated[Path | None, Parameter(help="save the result (.json, .parquet)")] = None,
    again: Annotated[Path | None, Parameter(help="a saved result: run its job, compare")] = None,
    json: Json = False,
) -> int:
    """Run one workload on one machine or several, at each thread count."""
    from uncore.api import make_job

    if again:
        return _again(again, cores)
    if len(words) < 2:
        raise UserError("run needs a machine and a workload: uncore run epyc7601x2 lock/ticket")
    values = {"parameters": pairs("--set", set_), "overrides": pairs("--with", with_)}
    jobs = [
        make_job(machine, words[-1], threads, **values, **choices.policies())
        for machine in words[:-1]
    ]
    if output and len(jobs) > 1:
        raise UserError(f"--output {output}: one file holds the result of one machine")
    return finish(jobs, cores, json=json, plot=plot, output=output)


@app.command
def sweep(
    *words: Annotated[str, Parameter(help="machines, then one workload")],
    threads: Threads = "1",
    set_: Set = [],  # noqa: B006
    with_: With = [],  # noqa: B006
    choices: Placed = PLACED,
    cores: Cores = 0,
    plot: Plot = None,
    json: Json = False,
) -> int:
    """Run the product of all values: --with KEY=A,B and --set NAME=A,B are axes."""
    from uncore.api import make_job

    if len(words) < 2:
        raise UserError("sweep needs a machine and a workload: uncore sweep bus:8 lock/ticket")
    overrides, parameters = axes("--with", with_), axes("--set", set_)
    jobs = [
        make_job(
            machine,
            words[-1],
            threads,
            overrides=chosen,
            parameters=values,
            **choices.policies(),
        )
        for machine, chosen, values in product(words[:-1], overrides, parameters)
    ]
    return finish(jobs, cores, json=json, plot=plot)


@app.command
def matrix(
    machine: str,
    *,
    ipi: Annotated[bool, Parameter(negative="", help="interrupts instead of a line")] = False,
    with_: With = [],  # noqa: B006
    choices: Choices = CHOICES,
    csv: Annotated[Path | None, Parameter(help="write the matrix, in ns")] = None,
    plot: Plot = None,
    json: Json = False,
) -> int:
    """The latency between all pairs of harts, as measured by a CAS ping-pong."""
    from uncore import matrix as measurement
    from uncore.report.plot import picture

    check_endings({"--csv": csv, "--plot": plot})
    measured = measurement.measure(
        machine, ipi=ipi, overrides=pairs("--with", with_), **choices.policies()
    )
    measurement.show(measured, json)
    if csv:
        measurement.write_csv(measured, csv)
        note(f"matrix: {csv}")
    if plot:
        note(f"picture: {picture(plot, measurement.panel(measured))}")
    return FAILED if measured.result.failed else OK


@app.command
def validate(
    *machines: str,
    matrices: Annotated[Path | None, Parameter(help="directory of measured matrices")] = None,
    json: Json = False,
) -> int:
    """Simulated against measured, with errors; exit status 1 past the stated bounds."""
    from uncore import validate as validation

    return int(validation.main(machines, matrices=matrices, json=json))


@app.command
def check(
    *protocols: Annotated[str, Parameter(help="msi, mesi, mesif, moesi; none: msi and mesi")],
    all_: Annotated[bool, Parameter(name="--all", negative="", help="all, and longer")] = False,
    json: Json = False,
) -> int:
    """Walk the protocol's tables exhaustively and at random; exit status 1 on a violation."""
    from importlib import import_module

    return int(import_module("uncore.protocol.check").main(protocols, everything=all_, json=json))


@app.command
def demo(*, plot: Plot = None) -> int:
    """The demonstration: core-to-core matrix and lock scaling of a 2x EPYC 7601."""
    from uncore import demo as demonstration

    return int(demonstration.main(plot))


def finish(
    jobs: Sequence[Any], cores: int, *, json: bool, plot: Path | None, output: Path | None = None
) -> int:
    """Executes jobs and reports whatever came of them; the exit status."""
    import os

    from uncore.execute import execute
    from uncore.report import curve, lines
    from uncore.report.plot import picture
    from uncore.report.progress import progress
    from uncore.result import save

    check_endings({"--output": output, "--plot": plot})
    wrong: list[tuple[Any, GuestError]] = []
    with progress(sum(sum(job.threads) for job in jobs), "simulating") as advance:
        results = execute(
            jobs,
            cores or os.cpu_count() or 1,
            lambda job, point: advance(point.threads),
            lambda job, error: wrong.append((job, error)),
        )
    for job, error in wrong:
        note(f"uncore: {job.machine.id} at {job.threads[0]} threads: {error}")
    curve.show(results, json)
    if len(jobs) == 1 and results[0].points and not json:
        lines.show(jobs[0].program, results[0].points[-1])
    if output:
        save(results[0], output)
        note(f"result: {output}")
    if plot and any(result.points for result in results):
        note(f"picture: {picture(plot, curve.panel(results))}")
    if wrong or any(result.failed for result in results):
        return FAILED
    return INTERRUPTED if any(result.outcome.partial for result in results) else OK


def _again(path: Path, cores: int) -> int:
    from uncore.api import job_again, load_result
    from uncore.execute import execute
    from uncore.result import canonical

    recorded = load_result(path)
    repeated = execute([job_again(recorded)], cores or 1)[0]
    if repeated.outcome.partial:
        return INTERRUPTED
    for before, now in zip(recorded.points, repeated.points, strict=True):
        differs = [f for f in now.__struct_fields__ if getattr(now, f) != getattr(before, f)]
        if canonical(before) != canonical(now):
            print(f"differs at {now.threads} threads: {', '.join(differs)}")
            return FAILED
    print(f"reproduced bit for bit: {len(repeated.points)} points, {recorded.result_hash}")
    return OK


def note(text: str) -> None:
    """Says where something was written, without disturbing what is piped."""
    print(text, file=sys.stderr)


def main(words: Sequence[str] | None = None) -> None:
    """Entry point: runs the command and exits with its status."""
    try:
        status = app(words, exit_on_error=False, print_error=False, result_action="return_value")
    except UncoreError as error:
        print(f"uncore: {error}", file=sys.stderr)
        status = error.status
    except CycloptsError as error:
        print(f"uncore: {error}", file=sys.stderr)
        status = MISTAKE
    except KeyboardInterrupt:
        print("uncore: interrupted", file=sys.stderr)
        status = INTERRUPTED
    except BrokenPipeError:  # the reader of the pipe has seen enough
        sys.stderr.close()
        status = OK
    sys.exit(status if isinstance(status, int) else OK)
