"""The reference engine: docs/model.md written a second time, to be read beside it.

Slow and plain, on SimPy; what the native engine is checked against, transaction by transaction
(`uncore diff-engines`).  The docstring of a function that is a rule, or a part of one, begins with
the rule's number; within a module rules come in their order.  A student reads the modules so:

    agents, contents, cache        who there is, bytes, a core's lines                  A
    time, ending                   simulated time, what happens at once, the end        T
    fabric                         stops, links, channels                               F
    hart, core, buffer             instructions in time, accesses, store buffers        H
    protocol, client, caches       the client table, and a core by it                   C1 to C5
    locks, far, contended          atomics, near and far; whose a line is               C6 to C9
    loads_ahead                    loads that were done too early                       C10
    resolver                       slices                                               R1, R9
    transaction, children, grants  one line's process, from a request to its close      R2 to R6
    writeback, capacity            what comes back, and what there is room for          R7, R8
    join                           a resolver towards the level above                   J
    memory                         memory's bytes, and its nodes                        M
    interrupts, multicast          registers that are messages                          I
    chance                         what varies by the seed                              V
    log                            what is written down                                 L

Beside the rules stand access (memory operations), message, port and devices (what a program finds
around its hart), counts, pace, view and system (all of it together).

Each hart is a process, each line at each resolver, each message under way.  They interpret the same
protocol tables as the native engine; instructions are executed by the same hart library, one at a
time; everything else is written anew.  Sleeping (S1) and running ahead (S2) do not exist here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from uncore.engine import Probes, outcome, silent
from uncore.engine import initial_memory as boot
from uncore.engine.limits import OnProgress

if TYPE_CHECKING:
    from uncore.job import Job

ABOUT = "the model in plain Python on SimPy: slow, to be read and to check `native`"
ABSENT = {"events": "what one step is differs from engine to engine"}
PROBES = frozenset({"log", "traffic", "pace"})

CAN = frozenset(
    {"far", "multicast", "tables", "chance", "weak"}
)  # features of jobs (initial_memory.py)
CORES = False
HARTS = 16  # more take minutes
SLICE = 10_000  # events between two ticks


def missing() -> str:
    """Always empty: SimPy comes with the package."""
    return ""


def run(job: Job, probes: Probes, tick: OnProgress = silent) -> dict[str, Any]:
    """One point."""
    from uncore.engine.reference.system import System  # noqa: PLC0415 (slow to load)
    from uncore.engine.reference.view import View  # noqa: PLC0415 (slow to load)

    system = System(job, boot.memory(job, CAN))
    while system.step(SLICE):
        tick(system.counts.operations, system.clock.now, system.touched)
    tick(system.counts.operations, system.clock.now, system.touched)
    view = View(system)
    seen: dict[str, Any] = {
        "log": view.log,
        "traffic": lambda: outcome.traffic(job, view),
        "pace": lambda: system.counts.pace.fields() | {"cold_misses": system.counts.cold_misses},
    }
    observed = {probe: seen[probe]() for probe in probes}
    return outcome.point(job, view) | {"observed": observed}
