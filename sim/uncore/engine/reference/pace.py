"""When operations were done, for who looks for a steady state (uncore.support.steady)."""

from __future__ import annotations

from itertools import count
from typing import Any

from uncore.engine.reference.interrupts import NEVER

SPANS = 256  # at most, of 2**n ps each, as short as that allows
PARTS = 32  # equal parts, at most, of operations told at once


class Pace:
    """The clocks of a run's markers."""

    def __init__(self) -> None:
        self.entered, self.left = 0, NEVER
        self.ended: list[tuple[int, int]] = []  # when, and how many operations

    def enters(self, clock: int) -> None:
        self.entered = max(self.entered, clock)

    def leaves(self, clock: int) -> None:
        self.left = min(self.left, clock)

    def done(self, clock: int, operations: int, each: int) -> None:
        """Operations end at `clock`, each of which took so long: of many that are told at once the
        earlier ones ended earlier (W2)."""
        parts = min(operations, PARTS)
        part = operations // parts
        self.ended += [(clock - each * part * later, part) for later in range(1, parts)]
        self.ended.append((clock, operations - part * (parts - 1)))

    def fields(self) -> dict[str, Any]:
        """Those of uncore.support.steady.Pace."""
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
