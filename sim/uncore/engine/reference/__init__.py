"""The reference engine: the rules of docs/model.md as plain Python on SimPy, to be read together
with them.

It is simple and slow. The native engine is checked against it, transaction by transaction (`uncore
diff-engines`). The docstring of a function that implements a rule, or a part of one, begins with
the rule's number; within a module the rules are in their order. Read the modules in this order:

    agents, contents, cache        agents, a line's bytes, a core's lines              A
    time, ending                   simulated time, order of simultaneous events, end   T
    fabric                         stops, links, channels                               F
    hart, core, buffer             instructions in time, accesses, store buffers        H
    protocol, client, caches       the client table, and a core's caches as a client    C1 to C5
    locks, far, contended          atomics, near and far; holders of contended lines   C6 to C9
    loads_ahead                    loads that were executed speculatively too early    C10
    resolver                       slices                                               R1, R9
    transaction, children, grants  the process of one line, from request to close      R2 to R6
    writeback, capacity            writebacks, recalls, evictions                      R7, R8
    join                           a resolver as a client of the level above           J
    memory                         memory's bytes, and its nodes                       M
    interrupts, multicast          registers that are accessed by messages             I
    chance                         random draws from the seed                          V
    log                            the transaction log                                 L

Modules without rules: access (memory operations), message, port and devices (the interfaces of a
hart to the rest of the machine), counts, pace, view, and system (which holds all parts).

Each hart is a SimPy process; so is each line at each resolver, and each message in flight. The
engine interprets the same protocol tables as the native engine, and uses the same hart library,
which executes one instruction at a time. Everything else is written independently. It does not
implement sleeping (S1) and running ahead (S2).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from uncore.engine import Observers, ignore_progress, outcome
from uncore.engine import initial_memory as boot
from uncore.engine.limits import OnProgress

if TYPE_CHECKING:
    from uncore.job import Job

ABOUT = "the model in plain Python on SimPy: slow, to be read and to check `native`"
ABSENT_FIELDS = {"events": "what one step is differs from engine to engine"}
OBSERVERS = frozenset({"log", "traffic", "pace"})

# Optional features of jobs that this engine supports; initial_memory.py refuses a job that needs
# another.
FEATURES = frozenset({"far", "multicast", "tables", "chance", "weak"})
ACCEPTS_CORES = False
MAX_HARTS = 16  # with more, a run takes minutes
EVENTS_PER_TICK = 10_000  # events between two calls of `tick`


def missing() -> str:
    """Returns "", because SimPy, which the engine needs, is installed with the package."""
    return ""


def run(job: Job, observers: Observers, tick: OnProgress = ignore_progress) -> dict[str, Any]:
    """Runs one job. Returns its point (engine/outcome.py), with the observations of `observers`."""
    from uncore.engine.reference.system import System  # noqa: PLC0415 (slow to load)
    from uncore.engine.reference.view import View  # noqa: PLC0415 (slow to load)

    system = System(job, boot.memory(job, FEATURES))
    while system.step(EVENTS_PER_TICK):
        tick(system.counts.operations, system.clock.now, system.touched_bytes)
    tick(system.counts.operations, system.clock.now, system.touched_bytes)
    view = View(system)
    observations: dict[str, Any] = {
        "log": view.log,
        "traffic": lambda: outcome.traffic(job, view),
        "pace": lambda: system.counts.pace.fields() | {"cold_misses": system.counts.cold_misses},
    }
    observed = {observer: observations[observer]() for observer in observers}
    return outcome.point(job, view) | {"observed": observed}
