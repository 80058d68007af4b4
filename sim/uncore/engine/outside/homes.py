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

RAM_BASE = abi.CONSTANTS["UC_RAM_BASE"]
PAGE_BYTES = 4096


@dataclass(frozen=True)
class Region:
    """`size` bytes from `start`.  If `num_nodes` > 1, pages are interleaved over so many nodes, and
    the region contains only the pages whose number modulo `num_nodes` is `node_index`.
    """

    start: int
    size: int
    num_nodes: int = 1
    node_index: int = 0


def nodes(job: Job) -> list[int]:
    """Returns the nodes that are the home of a page, in ascending order."""
    return home_nodes(job.home, job.machine)


def region(job: Job, node: int) -> Region:
    """Returns a node's addresses under `addressed`, `interleave`, `node<K>` or a kind of memory."""
    if job.home == "addressed":
        span = job.machine.node_span
        return Region(RAM_BASE + node * span, span)
    interleaved_nodes = nodes(job)
    return Region(RAM_BASE, job.machine.ram, len(interleaved_nodes), interleaved_nodes.index(node))
