"""T4. The end of a run.

Interface: `end_by(hart, ...)` is called when a hart ends the run, `finish` when the engine does (at
a deadlock); `how`, `reason` and `code` describe the end. Invariant: once `how` is no longer
"running", it does not change.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from uncore.engine.reference.time import LAST

if TYPE_CHECKING:
    from uncore.engine.reference.core import Core
    from uncore.engine.reference.hart import Hart
    from uncore.engine.reference.system import System


class Ending:
    """The end of one run."""

    def __init__(self, system: System) -> None:
        self.system = system
        self.how, self.reason, self.code = "running", "", 0
        # declarations of harts that end the run: time, core, hart, how, reason, code
        self.claims: list[tuple[int, int, int, str, str, int]] = []

    def end_by(self, hart: Hart, how: str, reason: str, code: int = 0) -> None:
        """T4.1: records that a hart ends the run. The run continues until the effect of this action
        could have reached every core.
        """
        hart.mode = "stopped"
        when = int(hart.isa.clock)
        self.claims.append((when, hart.core.agent, hart.index, how, reason, code))
        ends = when + max(self.longest(core) for core in self.system.cores)
        self.system.clock.call(ends, LAST, self.end_by_first_claim)

    def longest(self, core: Core) -> int:
        """T4.1: returns the longest time that an action of another core, or of the nearest
        resolver, takes to reach this core.
        """
        machine, own_stop = self.system.machine, core.stop(0)
        if not core.harts:
            return 1
        latencies = self.system.fabric.least_latencies(own_stop)
        stops = [*machine.core_stops]
        stops += [stop for resolver in machine.resolvers for stop in resolver.slices]
        stops.remove(own_stop)
        nearest = min((latencies[stop] for stop in stops), default=1)
        others = [other.stop(0) for other in self.system.cores if other.harts and other is not core]
        return max(1, nearest, *(latencies[stop] for stop in others))

    def end_by_first_claim(self) -> None:
        """T4.2: ends the run by the earliest declaration; on ties, by that of the lower hart."""
        *_, how, reason, code = min(self.claims)
        self.finish(how, reason, code)

    def finish(self, how: str, reason: str, code: int = 0) -> None:
        """T4.3: ends the run; later events do not happen."""
        if self.how == "running":
            self.how, self.reason, self.code = how, reason, code
