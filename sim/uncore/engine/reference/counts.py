"""The counters of a run, from which its outcome is computed."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from uncore.engine.reference.pace import Pace

if TYPE_CHECKING:
    from uncore.engine.reference.message import Message
    from uncore.topology.machine import Machine

KEPT_BITS = 6  # significant bits of a latency, so that buckets are at most 3 % wide


class Counts:
    """The counters of one run."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.progress = 0  # time of the last operation, in ps
        self.operations = 0
        self.transactions = 0
        self.invalidations = 0
        self.latencies: Counter[int] = Counter()
        self.pace = Pace()
        self.by_line: Counter[int] = Counter()
        # The index is the number of levels, from the outermost, that both cores share.
        self.between = [0] * (1 + len(machine.shape[0]))
        self.stored = [0] * len(machine.resolvers)
        self.memory = 0
        self.cold_misses = 0  # number of lines fetched from memory for the first time
        self.lines_from_memory: set[int] = set()
        self.failed_scs = 0
        self.failed_lately: Counter[int] = Counter()  # key: line; cleared at each operation

    def operated(self, batch: int, latency: int | None) -> None:
        """Counts `batch` consecutive operations. `latency` is their total time in ps, or None if it
        was not measured.
        """
        self.operations += batch
        if latency is not None:
            each_ps = latency // batch
            dropped = max(0, each_ps.bit_length() - KEPT_BITS)
            self.latencies[each_ps >> dropped << dropped] += batch

    def progressed(self, now: int) -> None:
        """Called when an operation is done."""
        self.progress = now
        self.failed_lately.clear()

    def sc_failed(self, line: int, counted: bool) -> None:
        """Counts a failed SC; `counted` is True if its hart is being measured."""
        self.failed_scs += counted
        self.failed_lately[line] += 1

    def probed(self, kind: str) -> None:
        """Counts a probe of a copy as an invalidation if it is ProbeM or Inv."""
        self.invalidations += kind != "ProbeS"

    def fetched(self, core: int, data: Message, measured: bool) -> None:
        """Counts a line that was filled into a core's cache, by the source of its bytes."""
        cores = len(self.machine.core_stops)
        from_memory = data.origin >= cores + len(self.stored)
        cold = from_memory and data.line not in self.lines_from_memory
        if from_memory:
            self.lines_from_memory.add(data.line)
        if not measured:
            return
        self.by_line[data.line] += 1
        self.cold_misses += cold
        if from_memory:
            self.memory += 1
        elif data.origin >= cores:
            self.stored[data.origin - cores] += 1
        else:
            receiver_path, origin_path = self.machine.shape[core], self.machine.shape[data.origin]
            common = [a == b for a, b in zip(receiver_path, origin_path, strict=True)]
            self.between[[*common, False].index(False)] += 1
