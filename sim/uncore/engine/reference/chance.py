"""V. Chance: the pseudo-random draws that make runs with different seeds vary.

Interface: `Chance(job)`; each of its methods returns a quantity that varies. Invariant: a draw is a
function of its arguments and the seed alone.
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
        """V1: in a run without a seed all limits are 0, so that every draw is 0."""
        self.job, self.limits = job, job.chance
        self.last_amo: Counter[int] = Counter()  # time at which each core's last Amo left

    def draw(self, maximum: int, what: int, drawer: int, count: int) -> int:
        """V2: returns a number from 0 to `maximum`. `what` is the purpose of the draw, `drawer` the
        number of the hart or core that draws, `count` the number of its draw.
        """
        return seeded.draw(self.job.seed or 0, maximum, what, drawer, count)

    def start(self, hart: int) -> int:
        """V3: returns the delay of a hart's start, in ps."""
        return seeded.start(self.job, hart)

    def leaves(self, request: Message, departure: int) -> int:
        """V4.1: returns the time at which a core's request leaves. Without a random delay it would
        leave at time `departure`.
        """
        if request.kind == "Put":
            return departure
        departure += self.draw(self.limits.request, REQUEST, request.sender, request.number)
        return self.in_order(request, departure) if request.kind == "Amo" else departure

    def in_order(self, amo: Message, departure: int) -> int:
        """V4.2: returns the time at which an Amo leaves. The Amos of a core leave in order."""
        self.last_amo[amo.sender] = max(departure, self.last_amo[amo.sender])
        return self.last_amo[amo.sender]

    def hold(self, core: int, usual: int, number: int) -> int:
        """V5: returns the hold of the line that was granted to request `number`; `usual` is
        core.hold.
        """
        deviation = usual * self.limits.hold // 1000
        return usual - deviation + self.draw(2 * deviation, HOLD, core, number)

    def look_back(self, hart: int, count: int) -> int:
        """V6: returns how far back in time a load may read."""
        return self.draw(self.limits.load, LOAD, hart, count)

    def stays(self, hart: int, count: int) -> int:
        """V7: returns the time for which a store stays in its buffer."""
        return self.draw(self.limits.store, STORE, hart, count)

    def declines(self, hart: int, count: int) -> bool:
        """V8: returns True if a load waits for its hart's own stores instead of taking their
        value.
        """
        return self.draw(self.limits.store > 0, ANSWER, hart, count) > 0

    def stalls(self, hart: int, count: int) -> int:
        """V9: returns the time for which a hart stalls after a write; one in four is above 0."""
        longest = self.limits.store
        return max(0, self.draw(4 * longest, STALL, hart, count) - 3 * longest)

    def line_offset(self) -> int:
        """V10: returns the offset, in lines, that is added to every line before it is hashed to a
        slice.
        """
        return seeded.line_offset(self.job)
