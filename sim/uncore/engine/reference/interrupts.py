"""Interprocessor interrupts and timers (rules I1 to I4).

An IPI is a message like any other: its latency depends on where the two harts sit and on the
traffic between them.  MSIP[h] lives at hart h's core.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from uncore.engine.reference.hart import NS, Hart
from uncore.engine.reference.time import INTERRUPT

if TYPE_CHECKING:
    from uncore.engine.reference.system import System

SOFTWARE, TIMER = 3, 7  # bits of mip
NEVER = 2**64 - 1


class Interrupts:
    """The interrupt controllers of all harts."""

    def __init__(self, system: System) -> None:
        self.system, self.clock = system, system.clock
        self.pending: set[int] = set()  # harts whose MSIP is set: a second IPI merges (I1)
        self.timers: dict[int, int] = {}  # mtimecmp, ns

    def send(self, sender: Hart, number: int) -> None:
        """I1: it leaves when the sender has done its part."""
        if number >= len(self.system.harts):
            return  # a hart the job does not have
        target = self.system.harts[number]
        rank = self.system.rank(target.core.agent, INTERRUPT, number, sender.core.agent)

        def arrived(time: int) -> None:
            accepted = time + self.system.machine.interrupt.accept  # I2
            self.clock.call(accepted, rank, lambda: self._set(target))

        leaves = self.clock.now + self.system.machine.interrupt.send
        stops = sender.core.stop(0), target.core.stop(0)
        self.system.fabric.send("control", *stops, leaves, rank, arrived)

    def _set(self, target: Hart) -> None:
        self.pending.add(target.id)
        target.interrupt(SOFTWARE, True)

    def clear(self, number: int) -> None:
        """A write of 0 to MSIP[number]."""
        self.pending.discard(number)
        self.system.harts[number].isa.interrupt(SOFTWARE, False)

    def set_timer(self, number: int, value: int) -> None:
        """A write to mtimecmp[number] (I4)."""
        self.timers[number] = value
        target, due = self.system.harts[number], value * NS
        target.isa.interrupt(TIMER, due <= self.clock.now)
        if self.clock.now < due < NEVER:
            core = target.core.agent
            rank = self.system.rank(core, INTERRUPT, 0, core)
            self.clock.call(due, rank, lambda: self._expire(target, value))

    def _expire(self, target: Hart, value: int) -> None:
        if self.timers[target.id] == value:
            target.interrupt(TIMER, True)
