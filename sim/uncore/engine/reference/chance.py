"""V. Chance: the random draws, from the job's seed, that vary a run.

Interface: `Chance(job)`; each other method returns a quantity that chance varies. Invariant: a draw
is a function of its arguments and the seed alone.
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
        self.last_amo: Counter[int] = Counter()  # when the last Amo of each core left

    def draw(self, most: int, what: int, whom: int, count: int) -> int:
        """V2: returns a number from 0 to `most`. `whom` is the number of the drawing hart or
        core.
        """
        return seeded.draw(self.job.seed or 0, most, what, whom, count)

    def start(self, hart: int) -> int:
        """V3: returns the delay of a hart's start, in ps."""
        return seeded.start(self.job, hart)

    def leaves(self, request: Message, then: int) -> int:
        """V4.1: returns when a core's request leaves that would leave at time `then` without
        chance.
        """
        if request.kind == "Put":
            return then
        then += self.draw(self.most.request, REQUEST, request.sender, request.number)
        return self.in_order(request, then) if request.kind == "Amo" else then

    def in_order(self, amo: Message, then: int) -> int:
        """V4.2: returns when an Amo leaves: not before those that its core has sent earlier."""
        self.last_amo[amo.sender] = max(then, self.last_amo[amo.sender])
        return self.last_amo[amo.sender]

    def hold(self, core: int, usual: int, number: int) -> int:
        """V5: returns the hold of a line that came by request `number`; `usual` is core.hold."""
        play = usual * self.most.hold // 1000
        return usual - play + self.draw(2 * play, HOLD, core, number)

    def back(self, hart: int, count: int) -> int:
        """V6: returns the time by which a load looks back."""
        return self.draw(self.most.load, LOAD, hart, count)

    def stays(self, hart: int, count: int) -> int:
        """V7: returns the time that a store stays in its buffer."""
        return self.draw(self.most.store, STORE, hart, count)

    def declines(self, hart: int, count: int) -> bool:
        """V8: returns True if a load waits for its hart's own stores instead of taking their
        value.
        """
        return self.draw(self.most.store > 0, ANSWER, hart, count) > 0

    def stalls(self, hart: int, count: int) -> int:
        """V9: returns the time that a hart stalls after a write; it is above 0 one time in four."""
        longest = self.most.store
        return max(0, self.draw(4 * longest, STALL, hart, count) - 3 * longest)

    def slice_line_offset(self) -> int:
        """V10: returns the number of lines by which chance shifts all lines for the hash of
        slices.
        """
        return seeded.slice_line_offset(self.job)
