"""Returns the addresses of each memory node (rule A4), for simulators that know only addresses.

nodes(job)          the nodes that hold pages of the job
region(job, node)   the addresses of one node
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
    """`size` bytes from `start`.  If `shares` > 1, pages are interleaved over `shares` nodes, and
    the region contains only the pages whose number modulo `shares` is `turn`.
    """

    start: int
    size: int
    shares: int = 1
    turn: int = 0


def nodes(job: Job) -> list[int]:
    """Returns the nodes that are the home of a page, in ascending order."""
    return home_nodes(job.home, job.machine)


def region(job: Job, node: int) -> Region:
    """Returns a node's addresses under `addressed`, `interleave`, `node<K>` or a kind of memory."""
    if job.home == "addressed":
        span = job.machine.node_span
        return Region(RAM + node * span, span)
    interleaved_nodes = nodes(job)
    return Region(RAM, job.machine.ram, len(interleaved_nodes), interleaved_nodes.index(node))
