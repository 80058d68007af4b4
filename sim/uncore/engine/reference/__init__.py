"""The reference engine: docs/model.md written a second time, to be read.

Slow and plain, on SimPy; what the native engine is checked against, transaction by transaction
(`uncore diff-engines`).  A student reads it in this order:

    time          simulated time, and the order of what happens at once        T
    message       what controllers say to each other
    fabric        stops, links, channels                                       F
    homes         slices and home nodes                                        A
    cache         the lines of a core, and which one goes                      A5
    access        memory operations
    hart, core    instructions in time, store buffers, reservations            H, C6, C7
    client        the client table;  caches  a core by it                      C
    entry         what a resolver knows of a line
    transaction   one line's process towards the children                      R
    grant         and what it gives them;  writeback: what comes back          R4 to R8
    join          and towards the level above                                  J
    resolver      slices and capacities                                        R1, R7, R8
    memory, interrupts, devices                                                M, I
    log, counts   what is written down                                         L
    system        all of it together

Each hart is a process, each line at each resolver, each message under way.  They interpret the same
protocol tables as the native engine; instructions are executed by the same hart library, one at a
time; everything else is written anew.  Sleeping (S1) and running ahead (S2) do not exist here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from uncore.engine import Probes, Tick, boot, outcome, silent

if TYPE_CHECKING:
    from uncore.job import Job

ABOUT = "the model in plain Python on SimPy: slow, to be read and to check `native`"
GIVES = frozenset(
    "threads ops elapsed_ps thread_ops latency transfers lines invalidations links resolvers"
    " instructions transactions tables failures".split()
)
PROBES = frozenset({"log"})

CAN = frozenset({"far", "multicast"})  # of what a machine may have (boot.py)
HARTS = 16  # more take minutes
SLICE = 10_000  # events between two ticks


def missing() -> str:
    """What is needed to run here: nothing, SimPy comes with the package."""
    return ""


def run(job: Job, probes: Probes, tick: Tick = silent) -> dict[str, Any]:
    """One point."""
    from uncore.engine.reference.system import System
    from uncore.engine.reference.view import View

    system = System(job, boot.memory(job, CAN))
    while system.step(SLICE):
        tick(system.counts.operations, system.clock.now)
    view = View(system)
    return outcome.point(job, view) | {"observed": {"log": view.log()} if "log" in probes else {}}
