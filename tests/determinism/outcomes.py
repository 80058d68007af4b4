"""Prints the result hash of each of a set of jobs, one per line. Tests run it in other processes.

    python outcomes.py [CORES [probes]]

CORES is the number of host cores to use. With `probes`, every observer of the engine observes each
run.

The jobs cover every kind of interconnect, two sockets, siblings, small caches and interrupts. They
also include Linux programs with sleeping threads and with every floating-point instruction.
"""

from __future__ import annotations

import sys
from dataclasses import replace

from tests.linux import floating, programs

import uncore
from uncore.engine import native
from uncore.execution.execute import execute
from uncore.execution.request import make_job
from uncore.job import Job

SMALL_CACHES = {"core.l1": "128B 1-way 4cy", "core.l2": "512B 2-way 14cy"}
JOBS = [
    ("bus:8", "lock/ticket", {"ops": 20}, {}, {}),
    ("ring:16", "lock/mcs", {"ops": 20}, {}, {}),
    ("mesh:4x4", "counter/atomic", {"ops": 50}, {}, {"home": "interleave"}),
    ("ccx:4x4", "refcount/atomic", {"ops": 10}, {}, {"placement": "scatter"}),
    ("tr1950x", "epoch/ebr", {"ops": 10, "updates": 10}, {}, {"placement": "siblings"}),
    ("epyc7601x2", "lock/ticket", {"ops": 10}, {"core.l2": "4KiB 2-way 12cy"}, {}),
    ("x8275clx2", "ipi/pingpong", {"rounds": 3}, {}, {"home": "first-touch"}),
    ("x8275clx2", "lock/ticket", {"ops": 20}, SMALL_CACHES, {"placement": "siblings"}),
    ("x8275clx2", "counter/atomic", {"ops": 20}, {"core.atomics": "far"}, {}),
    ("x5650x2", "lock/ticket", {"ops": 10, "think": "9ns"}, {}, {"placement": "scatter"}),
    ("epyc7601x2", "lock/mcs", {"ops": 20}, {}, {"seeds": (1, 2)}),
    ("graviton2", "counter/atomic", {"ops": 20}, {}, {"seeds": (1, 2)}),
]
FLOATING_POINT_PROGRAMS = len(floating.PROGRAMS)


def linux_jobs() -> list[Job]:
    threaded = [programs.job("locked", "6", harts=n, seeds=(1, 2)) for n in (1, 4, 8)]
    floating_point = replace(programs.job(harts=1), program=floating.program())
    return [
        *threaded,
        *(replace(floating_point, arguments=(str(n),)) for n in range(FLOATING_POINT_PROGRAMS)),
    ]


def main(cores: int, observers: frozenset[str]) -> None:
    jobs = [
        make_job(machine, workload, [1, 3, 8], parameters=values, overrides=changes, **policies)
        for machine, workload, values, changes, policies in JOBS
    ]
    jobs += linux_jobs()
    for job, result in zip(jobs, execute(jobs, cores, observers=observers), strict=True):
        print(job.machine.id, job.program.name, *job.arguments, result.result_hash)
    print(uncore.__file__, file=sys.stderr)


if __name__ == "__main__":
    main(
        int(sys.argv[1]) if len(sys.argv) > 1 else 1,
        native.OBSERVERS if sys.argv[2:] else frozenset(),
    )
