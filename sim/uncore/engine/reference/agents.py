"""A. Agents: cores, resolvers and memories, their stops, and the home of each line (A1, A3, A4).

Interface: `cores`, `resolvers`, `memories` by their numbers; `stop`, `slice` and `home` of a line;
`above`, the resolver above an agent.
Invariant: the home of a page does not change once a core has missed on it.
"""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

from uncore import _native
from uncore.engine.reference.core import Core
from uncore.engine.reference.hart import Hart
from uncore.engine.reference.memory import MemoryNode
from uncore.engine.reference.resolver import Resolver
from uncore.job import home_nodes
from uncore.program.abi import CONSTANTS

if TYPE_CHECKING:
    from uncore.engine.reference.system import System

RAM_BASE = CONSTANTS["UC_RAM_BASE"]

Agent = Core | Resolver | MemoryNode


class Agents:
    """All agents of one machine: they send and receive messages."""

    def __init__(self, system: System) -> None:
        """A1.1, A1.3: numbers the cores, each with the costs of its kind, then the resolvers, inner
        levels first, then the memories.
        """
        self.system, self.machine, job = system, system.machine, system.job
        number = count()
        self.cores = [Core(system, next(number), costs) for costs in self.machine.each_core]
        self.resolvers = [Resolver(system, next(number), spec) for spec in self.machine.resolvers]
        self.memories = [MemoryNode(system, next(number), spec) for spec in self.machine.memories]
        self.all: list[Agent] = [*self.cores, *self.resolvers, *self.memories]
        self.policy = "first-touch" if job.home == "pair" else job.home
        self.nodes = home_nodes(job.home, job.machine)
        self.one_slice = None if job.slices == "hash" else int(job.slices)
        self.line_offset = system.chance.line_offset()  # random offset, in lines (V10)
        self.page = 4096 // self.machine.line  # size of a page, in lines
        self.node_of_page: dict[int, int] = {}  # node of each page that a core has missed on

    def place_harts(self) -> list[Hart]:
        """A1.2, A1.4: returns the program's harts, each at the core on which the job places it."""
        program = self.system.job.program
        text = next(s for s in program.segments if program.entry in s)
        code = _native.Code(text.address, len(text.data))
        harts = []
        for id, position in enumerate(self.system.job.used_harts):
            core = self.cores[self.machine.core_of(position)]
            harts.append(Hart(core, id, _native.Hart(code, id, program.entry, self.machine.ram)))
            core.harts.append(harts[-1])
        return harts

    def stop(self, agent: int, line: int) -> int:
        """A3: returns the stop at which an agent handles the line; a resolver has one for each
        slice.
        """
        return self.all[agent].stop(line)

    def slice(self, line: int, slices: int) -> int:
        """A3: returns the number of the slice that serves a line."""
        if self.one_slice is not None:
            return self.one_slice % slices
        return (self.hashed_line(line) * 0x9E3779B97F4A7C15 % 2**64 >> 32) % slices

    def hashed_line(self, line: int) -> int:
        """A3: returns the number that is hashed to choose a line's slice and its routes (F1.1)."""
        return line + self.line_offset

    def home(self, line: int) -> int:
        """A4.1 to A4.4: returns the line's memory node by the job's policy."""
        if self.policy == "first-touch":
            return self.node_of_page.get(line // self.page, 0)
        if self.policy == "addressed":
            return self.addressed(line)
        return self.nodes[line // self.page % len(self.nodes)]

    def addressed(self, line: int) -> int:
        """A4.1: returns the node whose part of RAM contains the line."""
        node = (line * self.machine.line - RAM_BASE) // self.machine.node_span
        return node if 0 <= node < len(self.machine.memories) else 0

    def touch(self, line: int, core: int) -> None:
        """A4.4: records that a core misses on the line. The first miss on a page places it on the
        memory node nearest to the core.
        """
        if self.policy == "first-touch" and line // self.page not in self.node_of_page:
            start, fabric = self.machine.core_stops[core], self.system.fabric
            latencies = [fabric.latency(start, m.stop, "control") for m in self.machine.memories]
            self.node_of_page[line // self.page] = latencies.index(min(latencies))

    def above(self, child: int, line: int) -> int:
        """Returns the resolver above an agent. If there are several, it is the one at the line's
        home.
        """
        parents = [r.agent for r in self.resolvers if child in r.spec.children]
        return parents[0] if len(parents) == 1 else parents[self.home(line)]
