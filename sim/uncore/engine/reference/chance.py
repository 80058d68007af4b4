"""V. Chance: what varies from run to run, by the job's seed.

Interface: `Chance(job)`; `start(hart)`, `leaves(request, then)` and `hold(core, usual, number)` are
what it changes.
Invariant: a draw follows from its arguments and the seed alone.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from uncore.engine.reference.message import Message

if TYPE_CHECKING:
    from uncore.job import Job

WORD = 1 << 64
START, REQUEST, HOLD, LOAD, STORE, ANSWER = 1, 2, 3, 4, 5, 7  # what is drawn


class Chance:
    """The draws of one run."""

    def __init__(self, job: Job) -> None:
        """V1: a run without a seed draws nothing: all its draws are from 0 to 0."""
        self.seed, self.most, self.harts = job.seed or 0, job.chance, job.threads[0]
        self.last_amo: Counter[int] = Counter()  # when it left, by core

    def draw(self, most: int, what: int, whom: int, count: int) -> int:
        """V2: a number from 0 to `most`."""
        stream = mix(mix(mix(self.seed) + what) + whom)
        return mix(stream + count) * (most + 1) // WORD

    def start(self, hart: int) -> int:
        """V3: how late a hart begins."""
        return self.draw(self.most.start * self.harts, START, hart, 0)

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


def mix(x: int) -> int:
    """SplitMix64's next number (Steele, Lea and Flood 2014)."""
    x = (x + 0x9E3779B97F4A7C15) % WORD
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 % WORD
    x = (x ^ x >> 27) * 0x94D049BB133111EB % WORD
    return x ^ x >> 31
