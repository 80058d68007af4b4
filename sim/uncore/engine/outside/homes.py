"""Addresses of each memory node (rule A4), for simulators that know only addresses.

nodes(job)          the nodes that home anything
region(job, node)   the addresses of one
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from uncore.job import home_nodes
from uncore.program import abi

if TYPE_CHECKING:
    from uncore.job import Job

RAM = abi.CONSTANTS["UC_RAM_BASE"]
PAGE = 4096


@dataclass(frozen=True)
class Region:
    """`size` bytes from `start`; of those, where `shares` > 1, page `turn` of every `shares`."""

    start: int
    size: int
    shares: int = 1
    turn: int = 0


def nodes(job: Job) -> list[int]:
    """In order."""
    return home_nodes(job.home, job.machine)


def region(job: Job, node: int) -> Region:
    """Addresses of a node under `addressed`, `interleave`, `node<K>` and a kind's name."""
    if job.home == "addressed":
        span = job.machine.node_span
        return Region(RAM + node * span, span)
    shared = nodes(job)
    return Region(RAM, job.machine.ram, len(shared), shared.index(node))
