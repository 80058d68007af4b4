"""Does an outcome depend on how far a core runs ahead of global time (rule S2)?

A core executes until a message could reach it.  How far that is must not show: one instruction at a
time, a few at a time, or as many as possible give one outcome, every field of it.
"""

from __future__ import annotations

from typing import Any

import pytest
from runs import point

from uncore.engine.native import NO_LIMIT

ONE_INSTRUCTION, FEW = 0, 3000  # ps

# Machine, threads, and what makes the harts meet: siblings share a core, scattered ones the fabric.
PLACES: list[tuple[str, int, dict[str, Any]]] = [
    ("bus", 2, {}),
    ("bus", 8, {}),
    ("ring", 16, {}),
    ("mesh", 3, {"placement": "scatter"}),
    ("mesh", 64, {}),
    ("ccx", 5, {"placement": "scatter"}),
    ("ccx", 32, {}),
    ("core2q9550", 4, {}),
    ("tr1950x", 3, {"placement": "siblings"}),
    ("tr1950x", 32, {"home": "first-touch"}),
    ("epyc7302x2", 64, {"placement": "siblings"}),
    ("epyc7302x2", 48, {"placement": "scatter", "home": "interleave"}),
]
WORK: dict[str, dict[str, Any]] = {
    "latency/pingpong": {"rounds": 3, "pairs": "one", "a": 0, "b": 1},
    "lock/ticket": {"ops": 4},
    "lock/mcs": {"ops": 4, "hold": "20ns"},
    "counter/atomic": {"ops": 10},
    "refcount/atomic": {"ops": 5, "think": "15ns"},
    "epoch/ebr": {"ops": 5, "updates": 10},
    "ipi/pingpong": {"rounds": 3, "pairs": "one", "a": 0, "b": 1},
}


@pytest.mark.parametrize("workload", WORK)
@pytest.mark.parametrize(
    ("machine", "threads", "options"), PLACES, ids=[f"{m}-{n}" for m, n, _ in PLACES]
)
def test_shows_it_how_long_the_slices_are(
    machine: str, threads: int, options: dict[str, Any], workload: str
) -> None:
    words = WORK[workload] | options
    outcome = point(machine, workload, threads, **words)
    for lookahead in (ONE_INSTRUCTION, FEW, NO_LIMIT):
        again = point(machine, workload, threads, lookahead=lookahead, **words)
        different = [field for field in outcome if outcome[field] != again[field]]
        assert not different, f"with slices of {lookahead} ps"
