"""C6, C7. Atomics lock their line, and an LR reserves it.

Interface: `may_begin` before an atomic; `lock`, `reserve`, `end_attempt` when one has been
performed; `written`, `lost` for reservations.
Invariant: of a core's harts at most one is at an atomic on a line that the core has alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from uncore.engine.reference.time import execution

if TYPE_CHECKING:
    from uncore.engine.reference.cache import CachedLine
    from uncore.engine.reference.core import Core
    from uncore.engine.reference.hart import Hart

MAX_LR_SC_INSTRUCTIONS = 64  # the LR's cost and a misprediction come on top


def lock(hart: Hart, line: CachedLine, duration: int) -> None:
    """C6.1: for so long the line is locked; whose lock was on it before has lost it."""
    line.locked_until = hart.clock.now + duration
    for other in hart.core.harts:
        if other is not hart and other.locked == line.line:
            other.locked = None


def lock_for_sc(hart: Hart, line: CachedLine, cost: int) -> None:
    """C6.2: an LR's lock ends by its time at the latest."""
    costs = hart.core.costs
    lock(hart, line, cost + MAX_LR_SC_INSTRUCTIONS * costs.instruction + costs.mispredict)
    hart.locked = line.line


def unlock(hart: Hart) -> None:
    """C6.2: the SC, the next AMO or LR, a trap, a branch that leaves the SC behind."""
    line = hart.core.caches.find(hart.locked) if hart.locked is not None else None
    hart.locked = None
    now = hart.clock.now
    if line and line.locked_until > now:
        line.locked_until = now
        line.changed.ring()
        for other in hart.core.harts:
            if other.mode == "barred" and other.tries > now + 1 and other.waits_for(line.line):
                ask_again(other, now + 1)


def may_begin(hart: Hart, number: int) -> bool:
    """C6.3: an atomic waits while its line is locked, and for whom the lock has kept off."""
    line, now = hart.core.caches.find(number), hart.clock.now
    if not line.protocol.may_store(line.state):
        return True  # nothing of the line is here to be locked: it asks for it
    if line.contended.bars(hart):
        return False
    if line.locked_until > now:
        hart.met_lock = True
        ask_again(hart, line.locked_until)
    elif comes_after_others(hart, line):
        ask_again(hart, now + 2)  # they have asked 1 ps from now
    else:
        return True
    return False


def is_behind(hart: Hart, number: int) -> bool:
    """C6.4: does another hart's atomic wait for the line since before this one was issued?"""
    mine = (hart.since if hart.pending else hart.clock.now, hart.index)
    waiting = (h for h in hart.core.harts if h.mode == "barred" and h.waits_for(number))
    return any((other.since, other.index) < mine for other in waiting)


def starts_over(hart: Hart) -> int:
    """C6.5: what an atomic takes longer because it met a lock."""
    met, hart.met_lock = hart.met_lock, False
    return hart.core.costs.restart if met else 0


def ask_again(hart: Hart, then: int) -> None:
    """C6.6: its atomic is executed again then: before what a higher thread executes (H6.4)."""

    def again() -> None:
        if hart.mode == "barred" and hart.tries == then:
            hart.mode = "waiting"
            hart.core.attempt(hart)

    hart.mode, hart.tries = "barred", then
    hart.clock.call(then, execution(hart.core.agent, hart.index), again)


def comes_after_others(hart: Hart, line: CachedLine) -> bool:
    """C6.7: a probe whose wait is over asks first, then the hart that is next."""
    probe_first = line.probes > 0 and line.held_until < hart.clock.now
    return probe_first or is_behind(hart, line.line)


def reserve(hart: Hart, line: CachedLine, cost: int) -> None:
    """C7: an LR reserves its line; where the core has it alone, it locks it, too (C6)."""
    hart.reservation = line.line
    if line.protocol.may_store(line.state):
        lock_for_sc(hart, line, cost)


def end_attempt(hart: Hart) -> None:
    """C7: an SC, a failed one too, or a trap."""
    hart.reservation = None
    unlock(hart)


def lose_reservations(core: Core, line: int, by: Hart | None = None) -> None:
    """C7: the line's copy has been taken, or a hart writes it: the others lose theirs."""
    for hart in core.harts:
        if hart is not by and hart.reservation == line:
            hart.reservation = None
            hart.end_stall()
