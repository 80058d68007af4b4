"""C6, C7. Atomics lock their line, and an LR reserves it.

Interface: `may_begin` is called before an atomic; `lock`, `reserve` and `end_attempt` when an AMO,
LR or SC has been performed; `lose_reservations` when a line is written or lost. Invariant: at most
one hart of a core executes an atomic on a line that the core holds exclusively.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from uncore.engine.reference.time import execution

if TYPE_CHECKING:
    from uncore.engine.reference.cache import CachedLine
    from uncore.engine.reference.core import Core
    from uncore.engine.reference.hart import Hart

# Longest lock of an LR, in instructions; the LR's cost and a misprediction are added to it.
MAX_LR_SC_INSTRUCTIONS = 64


def lock(hart: Hart, line: CachedLine, duration: int) -> None:
    """C6.1: locks the line for `duration`. Another hart whose LR had locked it loses that lock."""
    line.locked_until = hart.clock.now + duration
    for other in hart.core.harts:
        if other is not hart and other.locked == line.line:
            other.locked = None


def lock_for_sc(hart: Hart, line: CachedLine, cost: int) -> None:
    """C6.2: locks the line for an LR. The lock ends after the longest time allowed, unless it is
    ended earlier.
    """
    costs = hart.core.costs
    lock(hart, line, cost + MAX_LR_SC_INSTRUCTIONS * costs.instruction + costs.mispredict)
    hart.locked = line.line


def unlock(hart: Hart) -> None:
    """C6.2: ends the lock of the hart's LR: at its SC, the next AMO or LR, a trap, or a branch that
    skips the SC.
    """
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
    """C6.3: returns True if an atomic may begin. It waits while its line is locked, and for the
    probes and the atomics that the lock has delayed.
    """
    line, now = hart.core.caches.find(number), hart.clock.now
    if not line.protocol.may_store(line.state):
        # The core does not hold the line exclusively, so there is no lock, and it requests the
        # line.
        return True
    if line.contended.must_wait(hart):
        return False
    if line.locked_until > now:
        hart.met_lock = True
        ask_again(hart, line.locked_until)
    elif comes_after_others(hart, line):
        ask_again(hart, now + 2)  # the others try again 1 ps from now
    else:
        return True
    return False


def is_behind(hart: Hart, number: int) -> bool:
    """C6.4: returns True if another hart's atomic, issued before this one, waits for the line."""
    own_order = (hart.since if hart.pending else hart.clock.now, hart.index)
    waiting = (h for h in hart.core.harts if h.mode == "barred" and h.waits_for(number))
    return any((other.since, other.index) < own_order for other in waiting)


def starts_over(hart: Hart) -> int:
    """C6.5: returns the additional time of an atomic that has met a lock."""
    has_met_lock, hart.met_lock = hart.met_lock, False
    return hart.core.costs.restart if has_met_lock else 0


def ask_again(hart: Hart, retry_time: int) -> None:
    """C6.6: schedules the next try of a hart's atomic at `retry_time`, before harts of a higher
    number execute (H6.4).
    """

    def retry() -> None:
        if hart.mode == "barred" and hart.tries == retry_time:
            hart.mode = "waiting"
            hart.core.attempt(hart)

    hart.mode, hart.tries = "barred", retry_time
    hart.clock.call(retry_time, execution(hart.core.agent, hart.index), retry)


def comes_after_others(hart: Hart, line: CachedLine) -> bool:
    """C6.7: returns True if a probe whose wait is over, or another hart's atomic, goes first."""
    probe_first = line.probes > 0 and line.held_until < hart.clock.now
    return probe_first or is_behind(hart, line.line)


def reserve(hart: Hart, line: CachedLine, cost: int) -> None:
    """C7: reserves the line of an LR. If the core holds it exclusively, also locks it (C6)."""
    hart.reservation = line.line
    if line.protocol.may_store(line.state):
        lock_for_sc(hart, line, cost)


def end_attempt(hart: Hart) -> None:
    """C7: ends reservation and lock: at an SC, failed or not, or a trap."""
    hart.reservation = None
    unlock(hart)


def lose_reservations(core: Core, line: int, writer: Hart | None = None) -> None:
    """C7: ends the reservations of a line that the core has lost, or, if a hart writes it, those of
    the other harts.
    """
    for hart in core.harts:
        if hart is not writer and hart.reservation == line:
            hart.reservation = None
            hart.end_stall()
