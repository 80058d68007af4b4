"""Runs of a lesson, and their figures by the names that its formulas use.

    job("ccx:4x8 lock/ticket 32 hold=50ns core.fence=0ns") -> Job      of one run, seed 1
    figures({"ticket": "ccx:4x8 lock/ticket 32"})       {"ticket.lines": 31.4, ...}

Figures: throughput (M operations/s), p50 and p99 (ns), fairness (0 to 1); lines fetched and
instructions, an operation; node0, node1, ...: those of the lines fetched that live in this memory,
without what a lock guards, which the program's header allocates.  A figure that the run does not
have is None, and `UNKNOWN` says why.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from uncore.errors import GuestError, UserError
from uncore.execution.execute import execute
from uncore.execution.request import make_job
from uncore.job import Job
from uncore.job.forms import FIRST_SEED
from uncore.program.abi import CONSTANTS
from uncore.result import Point
from uncore.topology.machine import Machine

GUARDED, RAM = "guarded", CONSTANTS["UC_RAM_BASE"]
UNKNOWN = {
    "throughput": "no time passed",
    "p50": "the program marks no operations with uc_start() and uc_op()",
    "p99": "the program marks no operations with uc_start() and uc_op()",
    "fairness": "its threads hardly worked together: some had finished before others began",
}


def job(words: str, parameters: Mapping[str, Any] | None = None) -> Job:
    machine, workload, threads, *rest = words.split()
    values = dict(word.split("=", 1) for word in rest)
    numbers = {key: value for key, value in values.items() if is_of_machine(key)}
    own = {name: value for name, value in values.items() if name not in numbers}
    return make_job(
        machine,
        workload,
        threads,
        parameters=own | dict(parameters or {}),
        overrides=numbers,
        seeds=(FIRST_SEED,),
    )


def is_of_machine(name: str) -> bool:
    """True for a number of the machine, such as core.fence; parameters of programs have no dot."""
    return "." in name


def figures(runs: Mapping[str, Job]) -> dict[str, float | None]:
    values: dict[str, float | None] = {}
    for (name, run), result in zip(runs.items(), execute(list(runs.values())), strict=True):
        found = _of(result.points[0]) | _by_node(result.points[0], run.machine)
        values |= {f"{name}.{figure}": value for figure, value in found.items()}
    return values


def _by_node(point: Point, machine: Machine) -> dict[str, float | None]:
    """Lines fetched for an operation, by the node that their addresses name (A4.1)."""
    fetched = dict.fromkeys(range(len(machine.memories)), 0)
    names = dict(point.names)
    for address, count in point.lines or ():
        if not names.get(address, "").startswith(GUARDED):
            fetched[(address - RAM) // machine.node_span] += count
    return {f"node{node}": count / point.ops for node, count in fetched.items()}


def _of(point: Point) -> dict[str, float | None]:
    if point.failures:
        raise GuestError(f"a self-check failed: {point.failures[0]}")
    if not point.ops:
        raise UserError("the program counts no operations; end each one with uc_op() as it began")
    latency = point.latency
    return {
        "throughput": None if point.throughput is None else point.throughput / 1e6,
        "lines": sum((point.transfers or {}).values()) / point.ops,
        "instructions": (point.instructions or 0) / point.ops,
        "p50": latency.p50 / 1000 if latency else None,
        "p99": latency.p99 / 1000 if latency else None,
        "fairness": point.fairness,
    }
