"""The simulated counterpart of a measured core-to-core matrix.

    handoffs(machine, hardware) -> ns by hart, lower triangle

One run plays all pairs of cores, one hart of each, as on the measured machines, where the siblings
of the two players slept; a second run plays two siblings.  Every pair of siblings of a machine runs
the same code in the same private caches, so one pair stands for all of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from uncore.api import make_job
from uncore.engine import Probes, native
from uncore.topology.machine import Machine
from uncore.validate.hardware import Hardware, Matrix

WORKLOAD = "latency/pingpong"
NO_PROBES: Probes = frozenset()


def handoffs(machine: Machine, hardware: Hardware) -> Matrix:
    per_core = machine.threads_per_core
    cores = _played(machine, hardware, machine.cores, placement="siblings", smt=False)
    ns: Matrix = np.kron(cores, np.ones((per_core, per_core))).astype(float)
    if per_core > 1:
        sibling = _played(machine, hardware, 2, placement="0,1")[0, 1]
        ns += np.kron(np.eye(machine.cores), np.full((per_core, per_core), sibling))
    ns[np.triu_indices(machine.harts)] = np.nan
    return ns


def _played(machine: Machine, hardware: Hardware, threads: int, **places: Any) -> Matrix:
    job = make_job(
        machine, WORKLOAD, (threads,), home=hardware.home, slices=hardware.slice, **places
    )
    point = native.run(job, NO_PROBES)
    return np.array(point["tables"]["handoff"], dtype=float) / 1000
