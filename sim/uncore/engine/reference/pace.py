"""Records the times of operations, in which uncore.support.steady finds a steady state."""

from __future__ import annotations

from itertools import count
from typing import Any

from uncore.engine.reference.interrupts import NEVER

MAX_SPANS = 256  # maximum number of spans; a span has 2**n ps, with the smallest n that suffices
MAX_PARTS = 32  # maximum number of equal parts into which operations reported together are divided


class Pace:
    """The clocks of a run's markers."""

    def __init__(self) -> None:
        self.entered, self.left = 0, NEVER
        self.ended: list[tuple[int, int]] = []  # time, and number of operations

    def enters(self, clock: int) -> None:
        self.entered = max(self.entered, clock)

    def leaves(self, clock: int) -> None:
        self.left = min(self.left, clock)

    def done(self, clock: int, operations: int, each_ps: int) -> None:
        """Records `operations` that were reported at `clock` and took `each_ps` each. They are
        assumed to have been executed one after the other, so that the last ended at `clock` (W2).
        """
        parts = min(operations, MAX_PARTS)
        part = operations // parts
        self.ended += [(clock - each_ps * part * later, part) for later in range(1, parts)]
        self.ended.append((clock, operations - part * (parts - 1)))

    def fields(self) -> dict[str, Any]:
        """Returns the fields of uncore.support.steady.Pace."""
        done = sorted(self.ended) or [(0, 0)]
        begin, end = done[0][0], done[-1][0]
        span = next(1 << n for n in count() if (end >> n) - (begin >> n) < MAX_SPANS)
        numbers = range(begin // span, end // span + 1)
        spans = {number: (0, 0) for number in numbers if self.ended}
        for clock, operations in done if spans else ():
            spans[clock // span] = spans[clock // span][0] + operations, clock
        return {
            "entered": self.entered,
            "left": self.left,
            "span": span,
            "first": numbers[0],
            "spans": [*spans.values()],
        }
