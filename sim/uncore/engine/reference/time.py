"""T. Time and order: SimPy's time, and rule T2's order among events of equal time.

SimPy breaks ties by the order in which events were scheduled. Then the outcome would depend on how
the processes are written. So each event of the rules is a `Moment`, whose *rank* breaks ties. The
direct consequences of a moment (such as a process that it wakes) happen before every other moment.

Interface: `Clock.at(time, rank)` is an event to wait for; `Clock.call(time, rank, action)`;
`Clock.rank` and `execution` return ranks; `Bell` is for waits without a fixed time. Invariant:
moments of equal time and equal receiver, class and line are ordered by sender, and those of one
sender by its count.
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
CLASS_NUMBERS = {
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
    """An event of the model: its time, and its rank among events of that time."""

    def __init__(self, clock: Clock, time: int, rank: Rank) -> None:
        super().__init__(clock)
        self.time, self.rank = time, rank
        self.succeed()


class Clock(simpy.Environment):
    """SimPy's environment, with time in integer picoseconds."""

    def __init__(self) -> None:
        super().__init__()
        self.sent: Counter[int] = Counter()  # number of messages sent by each agent

    @property
    def now(self) -> int:
        """Returns the time as an int, because SimPy also allows other types."""
        return int(super().now)

    def schedule(self, event: simpy.Event, priority: Any = None, delay: Any = 0) -> None:
        """Overrides the function by which SimPy schedules every event: the rank replaces SimPy's
        integer priority.
        """
        if isinstance(event, Moment):
            super().schedule(event, event.rank, event.time - self.now)  # type: ignore[arg-type]
        else:
            super().schedule(event, AT_ONCE, delay)  # type: ignore[arg-type]

    def at(self, time: int, rank: Rank) -> Moment:
        """T1: returns an event at a time, for a process to wait for."""
        return Moment(self, time, rank)

    def call(self, time: int, rank: Rank, action: Callable[[], None]) -> None:
        """T1: schedules an action at a time."""
        Moment(self, time, rank).callbacks.append(lambda _: action())

    def next_turn(self) -> Moment:
        """Returns a moment at the present time, after the consequences that have been scheduled
        already.
        """
        return self.at(self.now, AT_ONCE)

    def rank(self, receiver: int, kind: str, line: int, sender: int) -> Rank:
        """T2.1 to T2.4: returns the keys that order events of equal time."""
        self.sent[sender] += 1
        return receiver, CLASS_NUMBERS[kind], line, sender, self.sent[sender]


def execution(core: int, hart: int) -> Rank:
    """T3, H6.4: returns the rank of a hart's execution. It is after all messages that reach the
    core at the same time, and lower harts are first.
    """
    return core, CLASS_NUMBERS["execution"], 0, hart


class Bell:
    """Wakes all processes that wait for it, each time it rings."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self._next: simpy.Event | None = None

    def wait(self) -> simpy.Event:
        """Returns the event of the next ring."""
        if self._next is None:
            self._next = self.clock.event()
        return self._next

    def ring(self) -> None:
        """Wakes the waiting processes, if any."""
        if self._next is not None:
            rung, self._next = self._next, None
            rung.succeed()
