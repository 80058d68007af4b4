"""Executes the runs of a lesson and names their figures for its formulas.

    job("ccx:4x8 lock/ticket 32 hold=50ns core.fence=0ns")    a job of one run, with seed 1
    figures({"ticket": job})                                  {"ticket.lines": 31.4, ...}

Figures: throughput (million operations/s), p50 and p99 (ns), fairness (0 to 1), lines fetched and
instructions per operation. node0, node1, ... are lines fetched per operation from the memory of
that node. They do not include the data that a lock guards, because contend.h allocates these and
not the reader's program. A figure that a run does not have is None; `UNKNOWN_REASONS` has the
reasons.
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

GUARDED_NAME_PREFIX, RAM_BASE = "guarded", CONSTANTS["UC_RAM_BASE"]
UNKNOWN_REASONS = {
    "throughput": "no time passed",
    "p50": "the program marks no operations with uc_start() and uc_op()",
    "p99": "the program marks no operations with uc_start() and uc_op()",
    "fairness": "its threads hardly worked together: some had finished before others began",
}


def job(words: str, parameters: Mapping[str, Any] | None = None) -> Job:
    machine, workload, threads, *settings = words.split()
    values = dict(word.split("=", 1) for word in settings)
    machine_numbers = {key: value for key, value in values.items() if is_of_machine(key)}
    own_parameters = {k: value for k, value in values.items() if k not in machine_numbers}
    return make_job(
        machine,
        workload,
        threads,
        parameters=own_parameters | dict(parameters or {}),
        overrides=machine_numbers,
        seeds=(FIRST_SEED,),
    )


def is_of_machine(name: str) -> bool:
    """True for a key of the machine, such as core.fence; parameters of programs have no dot."""
    return "." in name


def figures(runs: Mapping[str, Job]) -> dict[str, float | None]:
    values: dict[str, float | None] = {}
    for (name, run), result in zip(runs.items(), execute(list(runs.values())), strict=True):
        point_figures = _point_figures(result.points[0]) | _by_node(result.points[0], run.machine)
        values |= {f"{name}.{figure}": value for figure, value in point_figures.items()}
    return values


def _by_node(point: Point, machine: Machine) -> dict[str, float | None]:
    """Returns the lines fetched per operation, by the memory node to which their addresses belong
    (A4.1).
    """
    fetched = dict.fromkeys(range(len(machine.memories)), 0)
    names = dict(point.names)
    for address, count in point.lines or ():
        if not names.get(address, "").startswith(GUARDED_NAME_PREFIX):
            fetched[(address - RAM_BASE) // machine.node_span] += count
    return {f"node{node}": count / point.ops for node, count in fetched.items()}


def _point_figures(point: Point) -> dict[str, float | None]:
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
