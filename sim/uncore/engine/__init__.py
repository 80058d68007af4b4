"""Engines execute a Job; all of them have the same interface.

An engine is a module of this package with

    ABOUT: str                          one line for `uncore list`
    ABSENT_FIELDS: Mapping[str, str]    fields of `result.Point` that it cannot know, with reasons
    missing() -> str                    what must be installed to use it here; "" if usable
    OBSERVERS: frozenset[str]           names of the observers that it offers
    MAX_HARTS: int                      number of harts that it runs in reasonable time
    FEATURES: frozenset[str]            optional features of machines and jobs that it supports
    ACCEPTS_CORES: bool                 True if `run` has an argument `cores`, the number of this
                                        computer's cores that it may use
    run(job: Job, observers: Observers, tick: OnProgress) -> dict
                                        returns the fields of one Point, in builtin types and
                                        integers; and in "observed" the data of each observer

An engine may have options of its own, which are not part of a job and change no outcome. They are
a struct (`OPTIONS`, options.py), which `missing`, `run` and the engine's other functions take as
`options`.

`run` executes a job of one thread count (`Job.at`). Now and then, and at the end, it calls `tick`
with the number of finished operations, the simulated time in ps, and the touched memory in bytes; a
number that it cannot know yet is 0.  `tick` may raise (limits.py).  A field that the engine leaves
out is empty in the point, never zero; `ABSENT_FIELDS` has the reason, or the entry `absent` of the
returned fields if it holds for this run only (`result.schema.point_of`).  `run` raises GuestError
if the guest fails, UserError if it does not support the request, and KeyboardInterrupt if the user
interrupts it.

Invariant: equal jobs give equal dictionaries.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from msgspec import Struct

from uncore.engine import copy
from uncore.engine.limits import Limits, OnProgress, watch
from uncore.engine.options import take
from uncore.errors import UserError, suggestion

if TYPE_CHECKING:
    from pathlib import Path

    from uncore.job import Job

# Name -> module.  An engine is imported at its first use, so that the others also work if its
# simulator is not installed.
ENGINES = {
    "native": "uncore.engine.native",
    "reference": "uncore.engine.reference",
    "gem5": "uncore.engine.gem5.engine",
    "sst": "uncore.engine.sst.engine",
}

# Name -> the module with the struct `Options`, which can be loaded without the engine.
OPTIONS = {"sst": "uncore.engine.sst.options", "gem5": "uncore.engine.gem5.options"}
EngineOptions = Mapping[str, Any]  # options of any engine as the user gives them, by name
NO_OPTIONS: EngineOptions = {}

# Observers of a run: what each of them records in addition to the run's counters. They do not
# change outcomes.
OBSERVERS = {
    "log": "the transaction log (section L of docs/model.md), by columns: for result.log.frame",
    "lines": "what touched which line, and what it cost: the fields of result.Observed",
    "trace": "what happened, event by event: the tables of uncore.engine.native.trace",
    "traffic": "messages over links by level: those without a line, and those with one",
    "pace": "when operations were done: the fields of support.steady.Pace",
    "files": "the files that a program of Linux has made or changed: path and bytes",
    "calls": "the system calls of a program of Linux, a line each",
    "operations": "which lines operations shared: the fields of result.observed.Shared",
}
Observers = frozenset[str]  # names from OBSERVERS
ProgressCallback = Callable[[int, int], None]  # gets the operations done and the time reached, ps


def ignore_progress(operations: int, reached: int, touched: int = 0) -> None:
    """Ignores progress; the default callback of a run."""


class Engine(Protocol):
    """The interface of the modules of this package."""

    ABOUT: str
    ABSENT_FIELDS: Mapping[str, str]
    OBSERVERS: frozenset[str]
    FEATURES: frozenset[str]
    ACCEPTS_CORES: bool
    MAX_HARTS: int

    def missing(self, **options: Any) -> str: ...

    def run(
        self, job: Job, observers: Observers, tick: OnProgress, **options: Any
    ) -> dict[str, Any]: ...


class Outside(Engine, Protocol):
    """Engines that are other simulators (uncore.engine.outside)."""

    DIFFERENCES: tuple[str, ...]

    def locate(self, **options: Any) -> Any: ...

    def protocol_of(self, job: Job, **options: Any) -> str: ...

    def export(self, job: Job, folder: Path, **options: Any) -> None: ...


def names() -> list[str]:
    """Returns the engines that this copy of uncore contains."""
    return [n for n, module in ENGINES.items() if importlib.util.find_spec(module)]


def load(name: str) -> Engine:
    """Returns the engine's module, even if it is not usable here (see `missing`)."""
    if name not in ENGINES or not importlib.util.find_spec(ENGINES[name]):
        raise UserError(
            f"no engine is called '{name}': there are {', '.join(names())}."
            f"{suggestion(name, names())}"
        )
    module: Any = importlib.import_module(ENGINES[name])
    return module  # type: ignore[no-any-return]


def other_simulator(name: str) -> Outside | None:
    """Returns the engine's module if it is another simulator, else None."""
    module: Any = load(name)
    return module if hasattr(module, "DIFFERENCES") else None


def installed(name: str, engine_options: EngineOptions = NO_OPTIONS) -> Any:
    """Returns the simulator that was found for the engine; None if there is none, or if the engine
    is uncore's own.
    """
    simulator = other_simulator(name)
    return simulator and simulator.locate(**_option_arguments(name, engine_options))


def options(name: str) -> type[Struct] | None:
    """Returns the struct of the engine's own options, without the limits; None if it has none."""
    if name not in OPTIONS:
        return None
    kind: type[Struct] = importlib.import_module(OPTIONS[name]).Options
    return kind


def _option_arguments(name: str, engine_options: EngineOptions) -> dict[str, Struct]:
    """Returns the options as keyword arguments of the engine's functions."""
    kind = options(name)
    return {"options": take(kind, engine_options)} if kind else {}


def missing(name: str, engine_options: EngineOptions = NO_OPTIONS) -> str:
    """Returns what must be installed to use the engine here; "" when usable."""
    return load(name).missing(**_option_arguments(name, engine_options))


def run(
    job: Job,
    observers: Observers,
    tick: ProgressCallback = ignore_progress,
    engine_options: EngineOptions = NO_OPTIONS,
    cores: int = 1,
) -> dict[str, Any]:
    """Runs one point on the job's engine, which must be usable."""
    module = load(job.engine)
    engine_arguments: dict[str, Any] = {**_option_arguments(job.engine, engine_options)}
    if module.ACCEPTS_CORES:
        engine_arguments["cores"] = cores
    fields = module.run(job, observers, watched(job, engine_options, tick), **engine_arguments)
    return fields | {"absent": {**module.ABSENT_FIELDS, **fields.get("absent", {})}}


def watched(
    job: Job, engine_options: EngineOptions, tick: ProgressCallback = ignore_progress
) -> OnProgress:
    """Returns a progress callback that stops the run at its limits."""
    return watch(take(Limits, engine_options), job.program.name, tick)


def export(job: Job, folder: Path, engine_options: EngineOptions = NO_OPTIONS) -> None:
    """Writes a folder that the job's engine, another simulator, can run without uncore."""
    if simulator := other_simulator(job.engine):
        simulator.export(job, folder, **_option_arguments(job.engine, engine_options))


def about(name: str, engine_options: EngineOptions = NO_OPTIONS) -> str:
    """Describes the engine in one line; for another simulator, the one that was found."""
    return str(installed(name, engine_options) or load(name).ABOUT)


def version(name: str, engine_options: EngineOptions = NO_OPTIONS) -> str:
    """Returns the version of another simulator that was found; "" for an own engine."""
    return str(getattr(installed(name, engine_options), "version", ""))


def protocol(job: Job, engine_options: EngineOptions = NO_OPTIONS) -> str:
    """Returns the protocol with which another simulator runs the job; "" for an own engine."""
    simulator = other_simulator(job.engine)
    return (
        simulator.protocol_of(job, **_option_arguments(job.engine, engine_options))
        if simulator
        else ""
    )


def identity(name: str, engine_options: EngineOptions = NO_OPTIONS) -> list[str]:
    """Returns texts that identify the engine's version; equal texts imply equal outcomes."""
    simulator = installed(name, engine_options)
    if not simulator:
        return [copy.content(), name]
    program, file = simulator.program, simulator.program.stat()
    return [copy.content(), name, str(simulator), f"{program} {file.st_size} {file.st_mtime_ns}"]


def usable(
    name: str, observers: Observers = frozenset(), engine_options: EngineOptions = NO_OPTIONS
) -> str:
    """Describes the engine in one line.

    Raises a UserError that says what to install, or which observer the engine lacks, if it is not
    usable here.
    """
    module = load(name)
    if obstacle := module.missing(**_option_arguments(name, engine_options)):
        raise UserError(f"engine '{name}' cannot run here: {obstacle}")
    for observer in sorted(observers - module.OBSERVERS):
        capable_engines = [other for other in names() if observer in load(other).OBSERVERS]
        raise UserError(
            f"engine '{name}' has no observer '{observer}'; write {' or '.join(capable_engines)}"
        )
    return about(name, engine_options)


def draws(name: str) -> bool:
    """True if the engine supports randomness by seeds (section V of docs/model.md)."""
    return "chance" in load(name).FEATURES


def refuse_slow(job: Job) -> None:
    """Raises a UserError if the job has more harts than its engine runs in reasonable time."""
    if job.engine in names() and max(job.threads) > (max_harts := load(job.engine).MAX_HARTS):
        raise UserError(
            f"--threads {max(job.threads)}: engine '{job.engine}' is slow beyond {max_harts} harts;"
            f" write at most {max_harts}, or --slow if you can wait"
        )
