"""V. Chance: what varies from run to run, by the job's seed.

Interface: `Chance(job)`; `start(hart)`, `further()`, `leaves(request, then)` and `hold(core, usual,
number)` are some of what it changes.
Invariant: a draw follows from its arguments and the seed alone.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from uncore.engine import seeded
from uncore.engine.reference.message import Message
from uncore.engine.seeded import ANSWER, HOLD, LOAD, REQUEST, STALL, STORE

if TYPE_CHECKING:
    from uncore.job import Job


class Chance:
    """The draws of one run."""

    def __init__(self, job: Job) -> None:
        """V1: a run without a seed draws nothing: all its draws are from 0 to 0."""
        self.job, self.most = job, job.chance
        self.last_amo: Counter[int] = Counter()  # when it left, by core

    def draw(self, most: int, what: int, whom: int, count: int) -> int:
        """V2: a number from 0 to `most`."""
        return seeded.draw(self.job.seed or 0, most, what, whom, count)

    def start(self, hart: int) -> int:
        """V3: how late a hart begins."""
        return seeded.start(self.job, hart)

    def leaves(self, request: Message, then: int) -> int:
        """V4.1: when a core's request leaves that would have left at a time."""
        if request.kind == "Put":
            return then
        then += self.draw(self.most.request, REQUEST, request.sender, request.number)
        return self.in_order(request, then) if request.kind == "Amo" else then

    def in_order(self, amo: Message, then: int) -> int:
        """V4.2: no Amo before one that its core has sent earlier."""
        self.last_amo[amo.sender] = max(then, self.last_amo[amo.sender])
        return self.last_amo[amo.sender]

    def hold(self, core: int, usual: int, number: int) -> int:
        """V5: how long a core keeps a line that it has won by a request."""
        play = usual * self.most.hold // 1000
        return usual - play + self.draw(2 * play, HOLD, core, number)

    def back(self, hart: int, count: int) -> int:
        """V6: how far a load looks back."""
        return self.draw(self.most.load, LOAD, hart, count)

    def stays(self, hart: int, count: int) -> int:
        """V7: how long a store stays in its buffer."""
        return self.draw(self.most.store, STORE, hart, count)

    def declines(self, hart: int, count: int) -> bool:
        """V8: whether a load waits for its hart's stores, which could answer it."""
        return self.draw(self.most.store > 0, ANSWER, hart, count) > 0

    def stalls(self, hart: int, count: int) -> int:
        """V9: how long a hart stalls behind a write: one time in four."""
        longest = self.most.store
        return max(0, self.draw(4 * longest, STALL, hart, count) - 3 * longest)

    def further(self) -> int:
        """V10: how many lines further on a line lies than its address says."""
        return seeded.further(self.job)
