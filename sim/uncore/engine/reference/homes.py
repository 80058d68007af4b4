"""Where lines live: the slice that resolves one, and the memory node that is its home (A3, A4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from uncore.engine.reference.message import LINE
from uncore.program.abi import CONSTANTS

if TYPE_CHECKING:
    from uncore.engine.reference.fabric import Fabric
    from uncore.job import Job

PAGE = 4096 // LINE  # lines
RAM = CONSTANTS["UC_RAM_BASE"]


class Homes:
    """The answers for one job."""

    def __init__(self, job: Job, fabric: Fabric) -> None:
        self.machine, self.fabric = job.machine, fabric
        self.policy = "first-touch" if job.home == "pair" else job.home
        self.one_slice = None if job.slices == "hash" else int(job.slices)
        self.touched: dict[int, int] = {}  # node of each page that a core has asked for

    def slice(self, line: int, slices: int) -> int:
        """Its number."""
        if self.one_slice is not None:
            return self.one_slice % slices
        return (line * 0x9E3779B97F4A7C15 % 2**64 >> 32) % slices

    def touch(self, line: int, core: int) -> None:
        """A core asks for the line."""
        if self.policy == "first-touch" and line // PAGE not in self.touched:
            self.touched[line // PAGE] = self._nearest(core)

    def node(self, line: int) -> int:
        """Its home."""
        if self.policy == "first-touch":
            return self.touched.get(line // PAGE, 0)
        if self.policy == "interleave":
            return line // PAGE % len(self.machine.memories)
        if self.policy.startswith("node"):
            return int(self.policy.removeprefix("node"))
        offset = line * LINE - RAM
        for node, memory in enumerate(self.machine.memories):
            if 0 <= offset < memory.size:
                return node
            offset -= memory.size
        return 0

    def _nearest(self, core: int) -> int:
        start = self.machine.core_stops[core]
        ways = [
            self.fabric.latency(start, memory.stop, "control") for memory in self.machine.memories
        ]
        return ways.index(min(ways))
