"""Presents a finished run to engine/outcome.py, which reads its outcome."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec

from uncore.engine.reference import contents
from uncore.engine.reference.log import ServedRequest
from uncore.support.steady import Pace, steady

if TYPE_CHECKING:
    from uncore.engine.reference.system import System


def hottest(counts: Mapping[int, int], size: int) -> list[tuple[int, int]]:
    """Returns addresses of lines with their counts, the highest count first; `size` is the size of
    a line in bytes.
    """
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return [(line * size, count) for line, count in ranked]


class View:
    """Presents a `System` through the interface `outcome.CountedRun`."""

    def __init__(self, system: System) -> None:
        self.system = system
        self.end, self.reason = system.ending.how, system.ending.reason
        self.exit_code = system.ending.code
        self.now = int(system.clock.now)
        self.read = partial(contents.read, system)
        self.console = system.console.said()

    def harts(self) -> list[dict[str, Any]]:
        """Returns the state of each hart."""
        return [
            {
                "pc": hart.isa.pc,
                "clock": hart.isa.clock,
                "instructions": hart.isa.instructions,
                "mode": hart.mode,
                "address": hart.pending.address if hart.pending else None,
            }
            for hart in self.system.harts
        ]

    def counters(self, lines: int | None = None) -> dict[str, Any]:
        """Returns the counters under the names of the native engine."""
        counts, system = self.system.counts, self.system
        line = system.machine.line
        steady_state = steady(msgspec.convert(counts.pace.fields(), Pace))
        return {
            "transactions": counts.transactions,
            "invalidations": counts.invalidations,
            "between": counts.between,
            "stored": counts.stored,
            "memory": counts.memory,
            "lines": hottest(counts.by_line, line)[:lines],
            "failed_scs": counts.failed_scs,
            "failed_lately": hottest(counts.failed_lately, line),
            "resolver_busy": [max(resolver.busy) for resolver in system.resolvers],
            "channel_busy": [channel.busy_time for channel in system.fabric.channels],
            "channel_taken": [
                tuple(channel.message_counts.values()) for channel in system.fabric.channels
            ],
            "memory_caches": [
                (node.cache.hits, node.cache.misses) if node.cache else (0, 0)
                for node in system.agents.memories
            ],
            "latencies": sorted(counts.latencies.items()),
            "steady": [steady_state] if steady_state else [],
        }

    def log(self) -> dict[str, list[Any]]:
        """L9: returns the log by columns; the reader of a log sorts it (L8)."""
        closed = self.system.log.closed()
        return {
            field.name: [getattr(record, field.name) for record in closed]
            for field in fields(ServedRequest)
        }
