"""T. Time and order: SimPy's time, and rule T2's order among events of equal time.

SimPy breaks ties by the order in which events were scheduled.  Here that would make an outcome
depend on how a process happens to be written, so whatever the rules speak of happens at a `Moment`,
whose *rank* decides.  What follows from a moment at once (a process that goes on because of it)
comes before every other moment.

Interface: `Clock.at(time, rank)` to wait for, `Clock.call(time, rank, action)`, `Clock.rank` and
`execution` for ranks, `Bell` to wait for something that has no fixed time.
Invariant: two moments of equal time and rank are of one sender and in the order of its count.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import simpy

Rank = tuple[int, ...]
AT_ONCE: Rank = ()  # before every other rank
LAST: Rank = (1 << 62,)

# The classes of rule T2.2.
CLASS = {
    kind: number
    for number, kinds in enumerate((
        ("ProbeS", "ProbeM", "Inv"),
        ("Data", "Grant", "Value"),
        ("Answer", "Unblock", "PutAck"),
        ("GetS", "GetM", "Upg", "Amo", "Put", "Interrupt"),
        ("execution",),
    ))
    for kind in kinds
}  # fmt: skip


class Moment(simpy.Event):
    """A time at which something happens, and its place among what happens then."""

    def __init__(self, clock: Clock, time: int, rank: Rank) -> None:
        super().__init__(clock)
        self.time, self.rank = time, rank
        self.succeed()


class Clock(simpy.Environment):
    """SimPy's environment in integer picoseconds."""

    def __init__(self) -> None:
        super().__init__()
        self.sent: Counter[int] = Counter()  # messages of each agent

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
        """T1: an event, for a process that waits for it."""
        return Moment(self, time, rank)

    def call(self, time: int, rank: Rank, action: Callable[[], None]) -> None:
        """T1: an event, and what happens at it."""
        Moment(self, time, rank).callbacks.append(lambda _: action())

    def next_turn(self) -> Moment:
        """A moment at the present time, after everything that has been started already."""
        return self.at(self.now, AT_ONCE)

    def rank(self, receiver: int, kind: str, line: int, sender: int) -> Rank:
        """T2.1 to T2.4: the keys by which events of equal time are ordered."""
        self.sent[sender] += 1
        return receiver, CLASS[kind], line, sender, self.sent[sender]


def execution(core: int, hart: int) -> Rank:
    """T3, H6.4: when all that reaches a core at a time has, it executes, lower harts first."""
    return core, CLASS["execution"], 0, hart


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
