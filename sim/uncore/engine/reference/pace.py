"""The times of operations, from which a steady state is found (uncore.support.steady)."""

from __future__ import annotations

from itertools import count
from typing import Any

from uncore.engine.reference.interrupts import NEVER

SPANS = 256  # largest number of spans; a span is 2**n ps, with the least n for which they suffice
PARTS = 32  # largest number of equal parts into which operations reported together are divided


class Pace:
    """The clocks of a run's markers."""

    def __init__(self) -> None:
        self.entered, self.left = 0, NEVER
        self.ended: list[tuple[int, int]] = []  # time, and number of operations

    def enters(self, clock: int) -> None:
        self.entered = max(self.entered, clock)

    def leaves(self, clock: int) -> None:
        self.left = min(self.left, clock)

    def done(self, clock: int, operations: int, each: int) -> None:
        """Records `operations` that were reported at `clock` and took `each` ps each. They are
        assumed to have been executed one after the other, the last one ending at `clock` (W2).
        """
        parts = min(operations, PARTS)
        part = operations // parts
        self.ended += [(clock - each * part * later, part) for later in range(1, parts)]
        self.ended.append((clock, operations - part * (parts - 1)))

    def fields(self) -> dict[str, Any]:
        """Returns the fields of uncore.support.steady.Pace."""
        done = sorted(self.ended) or [(0, 0)]
        begin, end = done[0][0], done[-1][0]
        span = next(1 << n for n in count() if (end >> n) - (begin >> n) < SPANS)
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
