"""Simulated time: SimPy's, with rule T2's order among events of equal time.

SimPy breaks ties by the order in which events were scheduled.  Here that would make an outcome
depend on how a process happens to be written, so whatever the rules speak of happens at a `Moment`,
whose *rank* (receiver, class, line, sender, sender's count) decides.  What follows from a moment at
once (a process that goes on because of it) comes before every other moment.

Interface: `Clock.at(time, rank)` to wait for, `Clock.call(time, rank, action)`, `Bell` to wait for
something that has no fixed time.
Invariant: two moments of equal time and rank are of one sender and in the order of its count.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import simpy

Rank = tuple[int, ...]
AT_ONCE: Rank = ()  # before every other rank
LAST: Rank = (1 << 62,)

# The classes of rule T2, beside those of messages (message.CLASS).
INTERRUPT, EXECUTION = 3, 4


class Moment(simpy.Event):
    """A time at which something happens, and its place among what happens then."""

    def __init__(self, clock: Clock, time: int, rank: Rank) -> None:
        super().__init__(clock)
        self.time, self.rank = time, rank
        self.succeed()


class Clock(simpy.Environment):
    """SimPy's environment in integer picoseconds."""

    @property
    def now(self) -> int:
        """SimPy allows other numbers; the model does not."""
        return int(super().now)

    def schedule(self, event: simpy.Event, priority: Any = None, delay: Any = 0) -> None:
        """SimPy's one way in: an event's rank stands where SimPy has a number."""
        if isinstance(event, Moment):
            super().schedule(event, event.rank, event.time - self.now)  # type: ignore[arg-type]
        else:
            super().schedule(event, AT_ONCE, delay)  # type: ignore[arg-type]

    def at(self, time: int, rank: Rank) -> Moment:
        """To be waited for."""
        return Moment(self, time, rank)

    def call(self, time: int, rank: Rank, action: Callable[[], None]) -> None:
        """Does something then."""
        Moment(self, time, rank).callbacks.append(lambda _: action())


class Bell:
    """Wakes whoever waits, as often as it rings."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self._next: simpy.Event | None = None

    def wait(self) -> simpy.Event:
        """The next ring."""
        if self._next is None:
            self._next = self.clock.event()
        return self._next

    def ring(self) -> None:
        """Nothing happens where nobody waits."""
        if self._next is not None:
            rung, self._next = self._next, None
            rung.succeed()
