"""The Python interface: the functions that `import uncore` offers to scripts and notebooks.

`run`, `load_result`, `load_all`, `sweep`, `matrix`, `lines`, `whatif`, `explore`, `show`, `plot`,
`save`, `machines`, `workloads`; `html(what)` is a notebook's display of a value.
uncore/__init__.py makes them available as `uncore.NAME`.

Each function is the counterpart of a command: it takes the command's options as typed keywords,
returns its tables as values, and prints what the command prints.
"""

from __future__ import annotations

import contextlib
import html as markup
import io
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

from rich.text import Text

from uncore import program, topology
from uncore.drawing import plot as plots
from uncore.engine import NO_OPTIONS, EngineOptions
from uncore.execution.keywords import ONE, SEVERAL, Several, split, takes
from uncore.execution.pool import Workers
from uncore.execution.request import (
    NOTHING,
    Counts,
    Value,
    find_program,
    make_job,
    usual_seeds,
)
from uncore.execution.rerun import observe
from uncore.execution.saved_points import Store
from uncore.execution.uncertainty import execute_with_samples
from uncore.job import Job
from uncore.job.schema import options
from uncore.program import Program
from uncore.report import chart, curve, objects, workload
from uncore.report.objects import Lines
from uncore.result import Result, Results, files, frame
from uncore.result.frame import Framed
from uncore.study import explore as exploration
from uncore.study import matrix as matrix_study
from uncore.study import whatif as whatif_study
from uncore.study import whatif_report as whatif_report
from uncore.study.explore import Exploration
from uncore.study.explore import report as exploration_report
from uncore.study.explore.plan import ExplorationPlan
from uncore.study.matrix import Matrix, Sample
from uncore.study.whatif import Kind, WhatIf
from uncore.topology.machine import Machine

MAX_CHANGES_SHOWN, MAX_OBJECTS_SHOWN = 16, 8  # maximum numbers of rows that show() prints
Shown = str | Machine | Program | Framed


@takes(ONE)
def run(
    machine: str | Machine,
    workload: str | Path | Program,
    threads: Counts = (1,),
    **given: Any,
) -> Result:
    """Runs a workload at each thread count, once with each seed.

    Every other keyword sets a parameter of the workload, such as hold="50ns"; `parameters` is a
    dictionary of them.  `overrides` change numbers of the machine, by the keys of `uncore show
    --keys`.  `seeds` is (17, 18), for example, or () for one run in lockstep.  `arguments` are the
    arguments of a Linux program, and `files` its folder /files: a path, or names and contents.
    After Ctrl-C it returns the finished points, marked as partial.
    """
    job_keywords, execution_keywords = split(given)
    job = make_job(machine, workload, threads, **job_keywords)
    return execute_with_samples([job], [machine], **execution_keywords)[0]


@takes(SEVERAL)
def sweep(
    machines: Several[str | Machine],
    workloads: Several[str | Path | Program],
    threads: Counts = (1,),
    **given: Any,
) -> Results:
    """Runs each combination of the values of list arguments; takes the keywords of `run`."""
    job_keywords, execution_keywords = split(given)
    numbers = {name: job_keywords.pop(name, {}) for name in ("overrides", "parameters")}
    axes = {
        n: job_keywords.pop(n)
        for n, option in options(Job).items()
        if n in job_keywords and option.form.word
    }
    jobs, names = [], []
    for machine, guest, chosen, overrides, parameters in product(
        _several(machines), _several(workloads), _product(axes), *map(_product, numbers.values())
    ):
        values = {**job_keywords, **chosen, "overrides": overrides, "parameters": parameters}
        jobs.append(make_job(machine, guest, threads, **values))
        names.append(machine)
    return Results(execute_with_samples(jobs, names, **execution_keywords))


def _several(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _product(named: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Returns one dictionary per combination of the values."""
    return [
        dict(zip(named, chosen, strict=True)) for chosen in product(*map(_several, named.values()))
    ]


def matrix(
    machine: str,
    *,
    ipi: bool = False,
    sample: int | Sample | None = None,
    overrides: Mapping[str, Value] = NOTHING,
    smt: bool = True,
    home: str = "addressed",
    slices: str = "hash",
    as_measured: bool = False,
    engine: str = "native",
    seeds: Iterable[int] | None = None,
    slow: bool = False,
    cores: Workers = 1,
    engine_options: EngineOptions = NO_OPTIONS,
) -> Matrix:
    """Measures the latency of a line, or with `ipi` of an interrupt, between all pairs of harts.

    `sample` is a number of harts, drawn so that every distance occurs; (40, 1) is another draw of
    40.  `as_measured` puts the line where it was in the measurement of the real machine.  If
    `seeds` is None, they are the usual ones, as many as docs/cli.md says.
    """
    return matrix_study.measure(
        machine,
        ipi=ipi,
        only=(sample, 0) if isinstance(sample, int) else sample,
        overrides={key: str(value) for key, value in overrides.items()},
        smt=smt,
        home=home,
        slices=slices,
        engine=engine,
        seeds=partial(usual_seeds, engine) if seeds is None else lambda _: tuple(seeds),
        as_measured=as_measured,
        slow=slow,
        workers=cores,
        engine_options=engine_options,
    )


def lines(result: Result, *, threads: int | None = None, seed: int | None = None) -> Lines:
    """Attributes the time of an operation to cache lines, with a row for each variable or field
    (docs/cli.md).

    Without `threads` it takes the last thread count, without `seed` the median repeat.  A result
    that was not run with observed=True is run again.
    """
    return Lines(result, observe(result, threads, seed))


def whatif(
    machine: str,
    workload: str | Path,
    threads: int,
    *,
    only: Iterable[Kind] = (),
    parameters: Mapping[str, Value] = NOTHING,
    overrides: Mapping[str, Value] = NOTHING,
    placement: str = "compact",
    smt: bool = True,
    home: str = "addressed",
    slices: str = "hash",
    seeds: Iterable[int] | None = None,
    within: str | int | None = None,
    cores: Workers = 1,
    engine_options: EngineOptions = NO_OPTIONS,
    **named: Value,
) -> WhatIf:
    """Returns the gain by each change of the program or the machine, largest first
    (docs/whatif.md).
    """
    job = make_job(
        machine,
        workload,
        [threads],
        parameters={**parameters, **named},
        overrides=overrides,
        seeds=seeds,
        within=within,
        placement=placement,
        smt=smt,
        home=home,
        slices=slices,
    )
    return whatif_study.whatif(machine, str(workload), job, cores, only, engine_options)


def explore(file: str | Path, *, cores: Workers = 1, resume: bool = False) -> Exploration:
    """Tries the machines that the file describes; returns the best compromises (docs/explore.md).

    `resume` reuses runs that were finished before.
    """
    return exploration.explore(
        ExplorationPlan.read(Path(file)), cores, store=Store(), resume=resume
    )


def machines() -> dict[str, str]:
    """Returns every shipped machine and shape by its id, with a one-line description."""
    return dict(topology.list_machines())


def workloads() -> dict[str, str]:
    """Returns every shipped workload by its name, with a one-line description."""
    return {workload.name: workload.summary for workload in program.shipped()}


def show(what: Shown) -> None:
    """Prints a machine, a workload, results or a matrix, for example; a string is the name of a
    machine or workload.
    """
    if isinstance(what, str):
        is_program = what in program.catalogue() or what.endswith((".c", ".elf"))
        what = find_program(what) if is_program else topology.load(what)
    if isinstance(what, Machine):
        print(topology.explained_text(what))
    elif isinstance(what, Program):
        workload.show(what, as_json=False)
    elif isinstance(what, Matrix):
        matrix_study.show(what, as_json=False)
    elif isinstance(what, WhatIf):
        whatif_report.show(what, MAX_CHANGES_SHOWN)
    elif isinstance(what, Exploration):
        exploration_report.show(what)
    elif isinstance(what, Lines):
        objects.show(what, MAX_OBJECTS_SHOWN)
    else:
        curve.show(_results(what), as_json=False)


def _results(what: Framed) -> Results:
    if isinstance(what, Result):
        return Results([what])
    if isinstance(what, Results):
        return what
    raise TypeError(f"a {type(what).__name__} is no machine, program, result or matrix")


def save(what: Result | Results, path: str | Path) -> None:
    """Writes a file that `uncore.load` and `load_all` read: .json or .parquet, by the path's
    ending.
    """
    files.save(what, Path(path))


def html(what: Machine | Framed) -> str:
    """Returns the command's output as HTML for a notebook, without the terminal's colours."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        show(what)
    return f"<pre>{markup.escape(Text.from_ansi(printed.getvalue()).plain)}</pre>"


def plot(what: Framed, path: str | Path | None = None) -> plots.Picture:
    """Draws curves of results, the heat map of a matrix, the critical path of lines, the gains of a
    what-if or the front of an exploration; with `path`, also saves the picture.
    """
    picture = plots.Picture(*_panels(what))
    return picture.save(path) if path else picture


def _panels(what: Framed) -> Sequence[plots.Panel]:
    if isinstance(what, Matrix):
        return [matrix_study.panel(what)]
    if isinstance(what, Lines):
        return [objects.panel(what)]
    if isinstance(what, Exploration):
        return exploration_report.panels(what)
    return [whatif_report.panel(what)] if isinstance(what, WhatIf) else chart.panels(_results(what))


def load_result(path: str | Path) -> Result:
    """Reads a saved result."""
    return files.load(Path(path))


def load_all(path: str | Path) -> Results:
    """Reads the results of a file that may hold several, such as those of a run on several
    machines.
    """
    return files.load_all(Path(path))


frame.draw.register(Framed, plot)
frame.print_html.register(Framed, html)
