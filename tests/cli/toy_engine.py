"""An engine for tests of the code that uses engines. It makes up its numbers without a simulation.

An operation takes 10 ns for any number of threads.  Environment variables change its behaviour;
worker processes inherit them:

    TOY_CHANCE      it accepts seeds; each unit of the seed slows a run by this many thousandths
    TOY_FAIL        a check of the workload fails at this thread count
    TOY_INTERRUPT   it raises KeyboardInterrupt at this thread count
    TOY_SLEEP       it hangs at this thread count
    TOY_DRIFT       it adds this number to the operations of every run
    TOY_MISSING     it is not installed, for this reason
    TOY_TICK        it reports this many ps of progress, and then waits
"""

from __future__ import annotations

import os
import sys
import time
from typing import Any

from uncore.engine import Observers, ProgressCallback, ignore_progress
from uncore.job import Job

HEAP = 0x9000_0000

ABOUT = "counts, for tests"
ABSENT_FIELDS = dict.fromkeys(
    (
        *("latency", "invalidations", "failed_scs", "links", "resolvers"),
        *("instructions", "transactions", "events"),
    ),
    "this engine only counts",
)
OBSERVERS: frozenset[str] = frozenset()
ACCEPTS_CORES = False
MAX_HARTS = 4096


def __getattr__(name: str) -> Any:
    """Returns FEATURES, the optional features of the engine, which depend on the environment."""
    if name == "FEATURES":
        return frozenset({"chance"} if "TOY_CHANCE" in os.environ else ())
    raise AttributeError(name)


def missing() -> str:
    return os.environ.get("TOY_MISSING", "")


def run(job: Job, observers: Observers, tick: ProgressCallback = ignore_progress) -> dict[str, Any]:
    n = job.threads[0]
    if os.environ.get("TOY_INTERRUPT") == str(n):
        raise KeyboardInterrupt
    if os.environ.get("TOY_SLEEP") == str(n):
        print("sleeping", file=sys.stderr, flush=True)
        time.sleep(60)
    if reached := os.environ.get("TOY_TICK"):
        tick(1, int(reached))
        time.sleep(0.3)  # long enough for a progress bar, which is drawn ten times a second
    return {
        "threads": n,
        "ops": 100 * n + int(os.environ.get("TOY_DRIFT", 0)),
        "elapsed_ps": (1000 + int(os.environ.get("TOY_CHANCE", 0)) * (job.seed or 0)) * 1000 * n,
        "thread_ops": [100] * n,
        "lines": [(job.program.symbol("uc_record").address, 10 * n), (HEAP, n)],
        "names": [(HEAP, "the lock")],
        "transfers": {"core": 0, "ccx": 10 * n},
        "tables": {
            "latency": [[0 if a == b else 1000 * (a + b) for b in range(n)] for a in range(n)]
        },
        "failures": ["lock.c:7: not excluded"] if os.environ.get("TOY_FAIL") == str(n) else [],
    }
