"""A machine's numbers in the units of gem5's caches, for any protocol.

    parts = Gem5Parts(job, levels, period, busy)
    parts.leave(ps)                 cycles that a message waits before it leaves
    parts.hit, .miss, .answer       what private caches take
    parts.private_cache(), .bank_cache(bank), ...       RubyCache, addresses

A cycle is one of the clock of caches and network.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from uncore.engine.gem5.document import Value, new, region
from uncore.engine.gem5.fabric import cycles
from uncore.engine.gem5.levels import Bank, Gem5Levels
from uncore.engine.outside import homes
from uncore.errors import UserError

if TYPE_CHECKING:
    from uncore.job import Job
    from uncore.topology.machine import Core

WAYS_OF_TAGS = 16
SPARE = 2  # a level without data holds so many times the lines of the caches above


def core_in_use(job: Job) -> Core:
    """That of every hart, or a UserError."""
    machine = job.machine
    used = [machine.core_of(hart) for hart in job.used_harts]
    kinds = dict.fromkeys(machine.core_kinds[core] for core in used)
    if len(kinds) > 1:
        raise UserError(
            f"{machine.id}: cores of several kinds ({' and '.join(kinds)}): gem5's harts tell the"
            " time by the cycles of one clock; write --place with cores of one"
        )
    return machine.each_core[used[0]]


class Gem5Parts:
    def __init__(self, job: Job, levels: Gem5Levels, period: int, busy: int) -> None:
        self.job, self.levels, self.period, self.busy = job, levels, period, busy
        self.core, self.line = core_in_use(job), job.machine.line
        self.line_bits = self.line.bit_length() - 1
        self.hit = max(1, self.core.l1_hit // period - 1)  # heard at the core's next cycle

    def leave(self, duration: int) -> int:
        """Cycles until a message is on its way: one of them is that of the endpoint's link."""
        return max(1, cycles(duration, self.period) - 1)

    @property
    def miss(self) -> int:
        """ps from an access to its request's leaving, beyond what a hit takes (rule H5); what a
        load takes when its line is there goes with it."""
        return self.core.l2_hit + self.core.l1_hit - self.hit * self.period

    @property
    def answer(self) -> int:
        """ps from a probe to its answer (rule C2), and the time of the answer's bytes."""
        return self.core.l2_hit + self.busy

    def supply(self, bank: Bank) -> int:
        """ps until a level's own data leave; without any, memory's do (rules R6, M1)."""
        if bank.resolver.data != "none":
            return bank.resolver.service + bank.resolver.data_hit
        return bank.resolver.service + self.job.machine.memories[self.levels.nodes[0]].latency

    @property
    def private_sets(self) -> tuple[int, int]:
        """Sets and ways of a core's caches, of which gem5 makes one: the lower holds all lines."""
        core = self.core
        return (core.l2_sets, core.l2_ways) if core.l2_sets else (core.l1_sets, core.l1_ways)

    def private_cache(self, data: int = 1) -> Value:
        """A hit takes the latency of its tags, and that of its `data` too."""
        sets, ways = self.private_sets
        return self._cache(sets, ways, self.line_bits, self.hit, data)

    def no_cache(self) -> Value:
        """For instructions, which come from elsewhere."""
        return self._cache(2, 1, self.line_bits, self.hit)

    def bank_cache(self, bank: Bank, tags: int = 1, data: int = 1, hold: bool = True) -> Value:
        """`hold`: it must have room for what the caches above it have."""
        sets, ways = self.private_sets
        above = len(self.levels.cores) * sets * ways if hold else 0
        own = bank.resolver.data_sets * bank.resolver.data_ways
        ways = bank.resolver.data_ways or WAYS_OF_TAGS
        lines = max(own, SPARE * above) // bank.shares
        first = self.line_bits + bank.shares.bit_length() - 1
        return self._cache(max(1, lines // ways), ways, first, tags, data)

    def lines(self, bank: Bank) -> Value:
        """Addresses of the lines that a bank has."""
        home = homes.Region(homes.RAM, self.job.machine.ram)
        if bank.node is not None:
            home = homes.region(self.job, bank.node)
        return region(home, self.line_bits, bank.shares, bank.turn)

    def home(self, node: int) -> Value:
        """Addresses of a memory node."""
        return region(homes.region(self.job, node))

    def _cache(self, sets: int, ways: int, first_bit: int, tags: int, data: int = 1) -> Value:
        """RubyCache indexes with whole bits and wants one at least."""
        sets = max(2, 1 << sets.bit_length() - 1)
        return new(
            "RubyCache",
            size=f"{sets * ways * self.line}B",
            assoc=ways,
            start_index_bit=first_bit,
            tagAccessLatency=tags,
            dataAccessLatency=data,
            replacement_policy=new("LRURP"),
        )
