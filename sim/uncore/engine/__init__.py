"""Engines: ways to execute a Job.  One contract, whoever computes.

An engine is a module of this package with

    ABOUT: str                               one line for `uncore list`
    ABSENT: Mapping[str, str]                fields of `result.Point` it cannot know, and why
    missing() -> str                         what must be installed to use it here; "" when usable
    PROBES: frozenset[str]                   the probes it has
    HARTS: int                               harts it runs in reasonable time
    CAN: frozenset[str]                      features of machines and jobs it has, beside the usual
    CORES: bool                              does `run` have an argument `cores`, how many of this
                                             computer it may take?
    run(job: Job, probes: Probes, tick: Watch) -> dict
                                             the fields of one Point, builtin types, integers;
                                             and in "observed" what each probe saw

An engine's own options, which are no part of a job and change no outcome, are a struct (`OPTIONS`,
options.py); `missing`, `run` and what else the engine has then take it as `options`.

`run` executes a job of one thread count (`Job.at`) and calls `tick` now and then, and at the end,
with the number of operations done so far, the simulated time reached, in ps, and the memory
touched, in bytes; 0 for what it cannot know yet.  `tick` may raise (limits.py).  A field that the
engine leaves out is empty in the point, never zero, with the reason of `ABSENT`; the engine's own
`absent` says why a field is empty in this one run (`result.schema.told`).  It raises GuestError
when the guest goes wrong, UserError when it is asked for something it cannot do, KeyboardInterrupt
when the user has had enough.
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
from uncore.errors import UserError, nearest

if TYPE_CHECKING:
    from pathlib import Path

    from uncore.job import Job

# Name -> module.  Engines load when used: an outside simulator's absence costs the others nothing.
ENGINES = {
    "native": "uncore.engine.native",
    "reference": "uncore.engine.reference",
    "gem5": "uncore.engine.gem5.engine",
    "sst": "uncore.engine.sst.engine",
}

# Name -> the module that has the struct `Options`; it is loaded without the engine.
OPTIONS = {"sst": "uncore.engine.sst.options", "gem5": "uncore.engine.gem5.options"}
EngineOptions = Mapping[str, Any]  # options of any engine as the user gives them, by name
NO_OPTIONS: EngineOptions = {}

# Observers of a run beside its counters; outcomes do not depend on them.
PROBES = {
    "log": "the transaction log (section L of docs/model.md), by columns: for result.log.frame",
    "lines": "what touched which line, and what it cost: the fields of result.Observed",
    "trace": "what happened, event by event: the tables of uncore.engine.native.trace",
    "traffic": "messages over links by level: those without a line, and those with one",
    "pace": "when operations were done: the fields of support.steady.Pace",
    "files": "the files that a program of Linux has made or changed: path and bytes",
    "calls": "the system calls of a program of Linux, a line each",
    "operations": "which lines operations shared: the fields of result.observed.Shared",
}
Probes = frozenset[str]
Tick = Callable[[int, int], None]


def silent(operations: int, reached: int, touched: int = 0) -> None:
    """The tick of a run that nobody watches."""


class Engine(Protocol):
    """The interface of the modules of this package."""

    ABOUT: str
    ABSENT: Mapping[str, str]
    PROBES: frozenset[str]
    CAN: frozenset[str]
    CORES: bool
    HARTS: int

    def missing(self, **options: Any) -> str: ...

    def run(self, job: Job, probes: Probes, tick: OnProgress, **options: Any) -> dict[str, Any]: ...


class Outside(Engine, Protocol):
    """Engines that are other simulators (uncore.engine.outside)."""

    DIFFERS: tuple[str, ...]

    def locate(self, **options: Any) -> Any: ...

    def protocol_of(self, job: Job, **options: Any) -> str: ...

    def export(self, job: Job, folder: Path, **options: Any) -> None: ...


def names() -> list[str]:
    """The engines this copy of uncore carries."""
    return [n for n, module in ENGINES.items() if importlib.util.find_spec(module)]


def load(name: str) -> Engine:
    """The engine's module, whether or not it is usable here (ask `missing`)."""
    if name not in ENGINES or not importlib.util.find_spec(ENGINES[name]):
        raise UserError(
            f"no engine is called '{name}': there are {', '.join(names())}.{nearest(name, names())}"
        )
    module: Any = importlib.import_module(ENGINES[name])
    return module  # type: ignore[no-any-return]


def other_simulator(name: str) -> Outside | None:
    """The engine's module if it is another simulator."""
    module: Any = load(name)
    return module if hasattr(module, "DIFFERS") else None


def installed(name: str, engine_options: EngineOptions = NO_OPTIONS) -> Any:
    """The other simulator that is the engine, as it is here; None if it is not, and of ours."""
    simulator = other_simulator(name)
    return simulator and simulator.locate(**_given(name, engine_options))


def options(name: str) -> type[Struct] | None:
    """The engine's own options, beside limits."""
    if name not in OPTIONS:
        return None
    kind: type[Struct] = importlib.import_module(OPTIONS[name]).Options
    return kind


def _given(name: str, engine_options: EngineOptions) -> dict[str, Struct]:
    """The options as keyword arguments of the engine's functions."""
    kind = options(name)
    return {"options": take(kind, engine_options)} if kind else {}


def missing(name: str, engine_options: EngineOptions = NO_OPTIONS) -> str:
    """Anything that must be installed to use the engine here; "" when usable."""
    return load(name).missing(**_given(name, engine_options))


def run(
    job: Job,
    probes: Probes,
    tick: Tick = silent,
    engine_options: EngineOptions = NO_OPTIONS,
    cores: int = 1,
) -> dict[str, Any]:
    """One point on the job's engine, which has been asked whether it is usable."""
    module = load(job.engine)
    given: dict[str, Any] = {**_given(job.engine, engine_options)}
    if module.CORES:
        given["cores"] = cores
    fields = module.run(job, probes, watched(job, engine_options, tick), **given)
    return fields | {"absent": {**module.ABSENT, **fields.get("absent", {})}}


def watched(job: Job, engine_options: EngineOptions, tick: Tick = silent) -> OnProgress:
    """A progress callback that stops the run at its limit."""
    return watch(take(Limits, engine_options), job.program.name, tick)


def export(job: Job, folder: Path, engine_options: EngineOptions = NO_OPTIONS) -> None:
    """Writes a folder that the job's engine, another simulator, runs by itself."""
    if simulator := other_simulator(job.engine):
        simulator.export(job, folder, **_given(job.engine, engine_options))


def about(name: str, engine_options: EngineOptions = NO_OPTIONS) -> str:
    """The engine, in one line: which one is here, where that can differ."""
    return str(installed(name, engine_options) or load(name).ABOUT)


def version(name: str, engine_options: EngineOptions = NO_OPTIONS) -> str:
    """That of an outside engine that is here; "" of ours."""
    return str(getattr(installed(name, engine_options), "version", ""))


def protocol(job: Job, engine_options: EngineOptions = NO_OPTIONS) -> str:
    """The one of its own that an outside engine runs the job with; "" of ours."""
    simulator = other_simulator(job.engine)
    return simulator.protocol_of(job, **_given(job.engine, engine_options)) if simulator else ""


def identity(name: str, engine_options: EngineOptions = NO_OPTIONS) -> list[str]:
    """Texts that identify the engine's version: equal ones give equal outcomes."""
    found = installed(name, engine_options)
    if not found:
        return [copy.content(), name]
    program, file = found.program, found.program.stat()
    return [copy.content(), name, str(found), f"{program} {file.st_size} {file.st_mtime_ns}"]


def usable(
    name: str, probes: Probes = frozenset(), engine_options: EngineOptions = NO_OPTIONS
) -> str:
    """The engine, in one line; a UserError that says what to install or which probe it has not,
    where it is not usable.
    """
    module = load(name)
    if what := module.missing(**_given(name, engine_options)):
        raise UserError(f"engine '{name}' cannot run here: {what}")
    for probe in sorted(probes - module.PROBES):
        has = [other for other in names() if probe in load(other).PROBES]
        raise UserError(f"engine '{name}' has no probe '{probe}'; write {' or '.join(has)}")
    return about(name, engine_options)


def draws(name: str) -> bool:
    """True if the engine leaves anything to chance (section V of docs/model.md)."""
    return "chance" in load(name).CAN


def refuse_slow(job: Job) -> None:
    """A UserError where the job has more harts than its engine runs in reasonable time."""
    if job.engine in names() and max(job.threads) > (most := load(job.engine).HARTS):
        raise UserError(
            f"--threads {max(job.threads)}: engine '{job.engine}' is slow beyond {most} harts;"
            f" write at most {most}, or --slow if you can wait"
        )
