"""Which addresses a memory node has (rule A4), for simulators that know only addresses.

nodes(job)          the nodes that home anything
region(job, node)   the addresses of one
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

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


def whole(job: Job) -> int:
    """Bytes of RAM."""
    return sum(memory.size for memory in job.machine.memories)


def nodes(job: Job) -> list[int]:
    """In order."""
    if job.home.startswith("node"):
        return [int(job.home.removeprefix("node"))]
    return list(range(len(job.machine.memories)))


def region(job: Job, node: int) -> Region:
    """Addresses of a node under `addressed`, `interleave` and `node<K>`."""
    memories = job.machine.memories
    if job.home.startswith("node"):
        return Region(RAM, whole(job))
    if job.home == "interleave" and len(memories) > 1:
        return Region(RAM, whole(job), len(memories), node)
    return Region(RAM + node * memories[node].size, memories[node].size)
