"""Runs of a lesson, and their figures by the names that its formulas use.

    job("ccx:4x8 lock/ticket 32 hold=50ns") -> Job      of one run, seed 1
    figures({"ticket": "ccx:4x8 lock/ticket 32"})       {"ticket.lines": 31.4, ...}

Figures: throughput (M operations/s), p50 and p99 (ns), fairness (0 to 1); lines fetched and
instructions, an operation.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from uncore.errors import GuestError, UserError
from uncore.execution.execute import execute
from uncore.execution.request import make_job
from uncore.job import Job
from uncore.job.forms import FIRST_SEED
from uncore.result import Point


def job(words: str, parameters: Mapping[str, Any] | None = None) -> Job:
    machine, workload, threads, *rest = words.split()
    values = dict(word.split("=", 1) for word in rest) | dict(parameters or {})
    return make_job(machine, workload, threads, parameters=values, seeds=(FIRST_SEED,))


def figures(runs: Mapping[str, Job]) -> dict[str, float]:
    values: dict[str, float] = {}
    for name, result in zip(runs, execute(list(runs.values())), strict=True):
        values |= {f"{name}.{figure}": value for figure, value in _of(result.points[0]).items()}
    return values


def _of(point: Point) -> dict[str, float]:
    if point.failures:
        raise GuestError(f"a self-check failed: {point.failures[0]}")
    if not point.ops:
        raise UserError("the program counts no operations; end each one with uc_op() as it began")
    values = {
        "throughput": (point.throughput or 0) / 1e6,
        "lines": sum((point.transfers or {}).values()) / point.ops,
        "instructions": (point.instructions or 0) / point.ops,
    }
    if point.latency:
        values |= {"p50": point.latency.p50 / 1000, "p99": point.latency.p99 / 1000}
    return values if point.fairness is None else values | {"fairness": point.fairness}
