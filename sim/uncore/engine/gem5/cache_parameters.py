"""Converts a machine's numbers to the units of gem5's caches, for any protocol.

    parts = Gem5Parts(job, levels, period, busy)
    parts.leave(ps)                 cycles that a message waits before it leaves
    parts.hit, .miss, .answer       latencies of private caches
    parts.private_cache(), .bank_cache(bank), ...       RubyCache objects, address ranges

Cycles are those of the clock that caches and network share.
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
# Number of lines for which a level without data has tags, as a multiple of the lines in the caches
# above it.
TAG_LINES_FACTOR = 2


def core_in_use(job: Job) -> Core:
    """Returns the kind of core that all harts run on; raises a UserError if there are several."""
    machine = job.machine
    used_cores = [machine.core_of(hart) for hart in job.used_harts]
    kinds = dict.fromkeys(machine.core_kinds[core] for core in used_cores)
    if len(kinds) > 1:
        raise UserError(
            f"{machine.id}: cores of several kinds ({' and '.join(kinds)}): gem5's harts tell the"
            " time by the cycles of one clock; write --place with cores of one"
        )
    return machine.each_core[used_cores[0]]


class Gem5Parts:
    def __init__(self, job: Job, levels: Gem5Levels, period: int, busy: int) -> None:
        self.job, self.levels, self.period, self.busy = job, levels, period, busy
        self.core, self.line = core_in_use(job), job.machine.line
        self.line_bits = self.line.bit_length() - 1
        # the core receives the answer at its next cycle
        self.hit = max(1, self.core.l1_hit // period - 1)

    def leave(self, duration: int) -> int:
        """Returns the cycles that a message waits in its controller so that it leaves after
        `duration` ps: one less, because the endpoint's link adds one.
        """
        return max(1, cycles(duration, self.period) - 1)

    @property
    def miss(self) -> int:
        """Time in ps from an access to its request's departure, beyond that of a hit (rule H5).

        It includes the time that a load takes once its line has arrived.
        """
        return self.core.l2_hit + self.core.l1_hit - self.hit * self.period

    @property
    def answer(self) -> int:
        """Time in ps from a probe to its answer (rule C2), including the transfer of the answer's
        bytes.
        """
        return self.core.l2_hit + self.busy

    def supply(self, bank: Bank) -> int:
        """Returns the ps until a bank sends data: the latency of its level's data, or of memory if
        the level has none (R6, M1).
        """
        if bank.resolver.data != "none":
            return bank.resolver.service + bank.resolver.data_hit
        return bank.resolver.service + self.job.machine.memories[self.levels.nodes[0]].latency

    @property
    def private_sets_and_ways(self) -> tuple[int, int]:
        """Numbers of sets and ways of a core's only gem5 cache: those of the core's outermost
        private level, which holds all its lines.
        """
        core = self.core
        return (core.l2_sets, core.l2_ways) if core.l2_sets else (core.l1_sets, core.l1_ways)

    def private_cache(self, data: int = 1) -> Value:
        """Returns a core's cache; a hit takes the latency of its tags plus that of its `data`."""
        sets, ways = self.private_sets_and_ways
        return self._cache(sets, ways, self.line_bits, self.hit, data)

    def no_cache(self) -> Value:
        """Returns a minimal instruction cache, which stays unused: gem5's controllers require one,
        but harts fetch instructions without gem5's memory system.
        """
        return self._cache(2, 1, self.line_bits, self.hit)

    def bank_cache(self, bank: Bank, tags: int = 1, data: int = 1, hold: bool = True) -> Value:
        """Returns a bank's cache. If `hold`, it has room for all lines of the caches above it, even
        if the level's own data are fewer.
        """
        sets, ways = self.private_sets_and_ways
        above = len(self.levels.cores) * sets * ways if hold else 0
        own_lines = bank.resolver.data_sets * bank.resolver.data_ways
        ways = bank.resolver.data_ways or WAYS_OF_TAGS
        lines = max(own_lines, TAG_LINES_FACTOR * above) // bank.num_shares
        first = self.line_bits + bank.num_shares.bit_length() - 1
        return self._cache(max(1, lines // ways), ways, first, tags, data)

    def lines(self, bank: Bank) -> Value:
        """Returns the addresses of the lines that belong to a bank."""
        home = homes.Region(homes.RAM_BASE, self.job.machine.ram)
        if bank.node is not None:
            home = homes.region(self.job, bank.node)
        return region(home, self.line_bits, bank.num_shares, bank.share_index)

    def home(self, node: int) -> Value:
        """Returns the addresses of a memory node."""
        return region(homes.region(self.job, node))

    def _cache(self, sets: int, ways: int, first_bit: int, tags: int, data: int = 1) -> Value:
        """Describes a RubyCache, whose number of sets must be a power of two, and at least two."""
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
