"""Runs jobs on the native engine, which is fast, exact, deterministic, and the default.

All of the simulation is C++ (sim/native/engine); this module gives it a resolved machine and a
program's initial memory, and runs it in short steps, so that Ctrl-C takes effect.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from uncore import _native
from uncore._native import Run
from uncore.engine import Observers, ignore_progress, initial_memory, outcome
from uncore.engine.limits import OnProgress
from uncore.engine.native import apart as moved_ranges
from uncore.engine.native import process, spec, trace
from uncore.errors import GuestError, Unfinished
from uncore.job import home_nodes
from uncore.program import abi, readback
from uncore.protocol import tables

if TYPE_CHECKING:
    from uncore.job import Job
    from uncore.program.elf import Segment
    from uncore.program.program import Image

ABOUT = "our own: fast, exact, deterministic (C++)"
ABSENT_FIELDS: Mapping[str, str] = {}

OBSERVERS = frozenset({"log", "lines", "operations", "pace", "trace", "traffic", "calls", "files"})
# Optional features of jobs that this engine supports (initial_memory.py).
FEATURES = frozenset({"far", "multicast", "tables", "chance", "weak", "whatif", "linux"})
ACCEPTS_CORES = True
MAX_HARTS = NO_LIMIT = spec.NO_LIMIT
MAX_KEPT_FILE_BYTES = 1 << 30  # larger files that a Linux program has written are not kept
NO_TRACE = spec.Trace(False, 0, NO_LIMIT, ())
# limits of parallel execution: a share with fewer harts is not worth a host thread, and waking more
# host threads takes longer than they save
MIN_HARTS_PER_SHARE, MAX_HOST_SHARES = 4, 16


class HostUse(NamedTuple):
    """Parallel execution on this computer: the number of shares into which the machine's cores are
    divided, and of host threads that execute them.

    `eager` executes in parallel even if that is slower, for tests.
    """

    shares: int = 1
    threads: int = 1
    eager: bool = False


SERIAL_HOST = HostUse()


# limits of a slice, after which signals such as Ctrl-C are checked: its events; its simulated time,
# because a core without competitors may run for long in one event; its host time, because events
# may be slow
MAX_STEP_EVENTS, MAX_STEP_PS = 200_000, 10**8
MAX_STEP_HOST_S = 0.2


def missing() -> str:
    """Returns "": the engine is part of the package."""
    return ""


def run(
    job: Job,
    observers: Observers,
    tick: OnProgress = ignore_progress,
    cores: int = 1,
    **limits: Any,
) -> dict[str, Any]:
    """Runs one point on at most `cores` cores of this computer; `limits` as in `start`."""
    shares = min(cores, job.threads[0] // MIN_HARTS_PER_SHARE, MAX_HOST_SHARES)
    engine = start(job, observers, **{"host": HostUse(shares, shares), **limits})
    try:
        run_to_end(engine, tick)
        fields = outcome.point(job, engine)
    except KeyboardInterrupt as stopped:
        raise stopped from _unfinished_run(job, engine, observers)
    except GuestError as failed:
        positions = (
            outcome.thread_positions(job, engine) if engine.end == "running" else []
        )  # stopped at a limit of the user's
        message_lines = [str(failed), *positions, engine.strace]
        raise GuestError("\n".join(message_lines).rstrip()) from _unfinished_run(
            job, engine, observers
        )
    return fields | {"observed": _observations(job, engine, observers)}


def run_to_end(engine: Run, tick: OnProgress) -> None:
    while engine.step(MAX_STEP_EVENTS, MAX_STEP_PS, MAX_STEP_HOST_S):
        tick(engine.operations, engine.now, engine.touched)
    tick(engine.operations, engine.now, engine.touched)


def _unfinished_run(job: Job, engine: Run, observers: Observers) -> Unfinished:
    """Returns tables, output and files of an unfinished run."""
    if job.program.linux:
        files = {"files": engine.files(MAX_KEPT_FILE_BYTES)} if "files" in observers else {}
        return Unfinished({}, engine.console[-outcome.MAX_OUTPUT_LETTERS :], files)
    try:
        return Unfinished(readback.tables(job.program, engine.read))
    except GuestError:
        return Unfinished({})


def start(
    job: Job, observers: Observers = frozenset(), host: HostUse = SERIAL_HOST, **limits: Any
) -> Run:
    """Returns a run of the job's first thread count before its first instruction.

    `limits` are arguments of `job_spec`.  `host` does not change the outcome.
    """
    run = Run(job.machine, job_spec(job, observers, **limits))
    if host.shares > 1:
        run.use_host(*host)
    return run


def job_spec(
    job: Job,
    observers: Observers = frozenset(),
    *,
    lookahead: int = NO_LIMIT,
    sleep: bool = True,
    fences: bool = True,
    trace: spec.Trace = NO_TRACE,
) -> spec.Job:
    """Returns the engine's description of the job; the machine is separate.

    The outcome depends neither on `lookahead`, how far (ps) a core may run ahead, nor on `sleep`,
    which skips waiting harts.  Without `fences` a FENCE does nothing: a broken machine, for tests.
    `trace` limits the events that the observer of that name records.
    """
    (segments, text), moves = _image(job), moved_ranges.moves(job)
    memory = moved_ranges.image(segments, moves)
    return spec.Job(
        protocol=_packed_protocol(job.machine.protocol, job.machine.tables),
        placement=job.used_harts,
        segments=tuple(spec.Segment(address, data) for address, data in memory),
        entry=job.program.entry,
        text_begin=text.address,
        text_size=len(text.data),
        stacks=0 if job.program.linux else job.program.symbol("uc_stacks").address,
        stack_stride=abi.CONSTANTS["UC_STACK_STRIDE"],
        stack_guard=abi.CONSTANTS["UC_STACK_GUARD"],
        home=_home(job),
        slice=-1 if job.slices == "hash" else int(job.slices),
        free=tuple(spec.Span(address, size) for address, size in sorted(job.free)),
        moves=moves,
        watchdog=job.watchdog,
        seed=job.seed or 0,
        chance=job.chance,
        lookahead=lookahead,
        sleep=sleep,
        fences=fences,
        process=_process(job, observers),
        **_observers(observers, trace),
    )


@lru_cache
def _packed_protocol(name: str, texts: tuple[tuple[str, str], ...]) -> tuple[int, ...]:
    """Returns the cells of a machine's protocol. They are kept, because a study runs hundreds of
    short runs of one protocol, and reading its tables may take as long as such a run.
    """
    return tuple(tables.pack(tables.of(name, texts)))


def _image(job: Job) -> tuple[Image, Segment]:
    """Returns the program's initial memory, and the segment of its code."""
    initial_memory.refuse_what_is_missing(job, FEATURES)
    return (
        process.image(job)
        if job.program.linux
        else (initial_memory.memory(job, FEATURES), initial_memory.text(job))
    )


def _process(job: Job, observers: Observers) -> spec.Process:
    return process.process(job, observers) if job.program.linux else spec.Process(False)


def _observers(observers: Observers, trace: spec.Trace) -> dict[str, Any]:
    """Returns the engine's flags for the observers.  A trace needs the log and the attribution of
    accesses to lines.
    """
    return {
        "log": bool({"log", "trace"} & observers),
        "accesses": "accesses" in observers,
        "lines": bool({"lines", "operations", "trace"} & observers),
        "trace": replace(trace, on="trace" in observers),
    }


def _home(job: Job) -> spec.Home:
    """Returns the home policy; `pair` and Linux's pages become first-touch (initial_memory.py)."""
    text = job.home
    if job.program.linux and text == "addressed":
        return spec.Home("first-touch", 0)
    if text in ("addressed", "first-touch", "pair"):
        return spec.Home("first-touch" if text == "pair" else text, 0)
    first, *more_nodes = home_nodes(text, job.machine)
    return spec.Home("interleave" if more_nodes else "node", first, 1 + len(more_nodes))


def _observations(job: Job, engine: Run, observers: Observers) -> dict[str, Any]:
    """Returns the data of each observer."""
    observed: dict[str, Any] = {}
    if "log" in observers:
        observed["log"] = log(job, engine)
    if "trace" in observers:
        observed["trace"] = trace.columns(job, engine)
    if "traffic" in observers:
        observed["traffic"] = outcome.traffic(job, engine)
    if "pace" in observers:
        observed["pace"] = engine.pace()
    if "calls" in observers:
        observed["calls"] = engine.strace
    if "files" in observers:
        observed["files"] = engine.files(MAX_KEPT_FILE_BYTES)
    if not {"lines", "operations"} & observers:
        return observed
    from uncore.engine.native import attribution  # noqa: PLC0415 (slow to load)

    if "lines" in observers:
        observed["lines"] = attribution.observed(job, engine)
    if "operations" in observers:
        observed["operations"] = attribution.shared(job, engine)
    if job.program.linux:
        job.program.frames.keep()
    return observed


def log(job: Job, engine: Run) -> dict[str, Any]:
    """Returns the transaction log by columns, with the names of rule L9."""
    columns: dict[str, Any] = engine.log()
    requests = _native.protocol_names()["requests"]
    states = tables.of(job.machine.protocol, job.machine.tables).client.rows
    # State I stands for "no right was granted".
    rights = ["" if state == "I" else state for state in states]
    for column, words in (("op", requests), ("right", rights)):
        columns[column] = [words[position] for position in columns[column].tolist()]
    return columns
