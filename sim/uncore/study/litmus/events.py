"""Litmus tests as data.

    LitmusAccess   one load or store of a thread, with its form and its link to the previous access
    Litmus         a name, and the accesses of each thread; all locations are 0 at the start

The outcome of a test is the value of every load, thread by thread, followed by the final value of
each location. Values are small numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

# Forms of an access. `plain`: a load or store. `amo`: an AMO with the annotations; as a load it
# writes back the value that it read, as a store it swaps. `lrsc`: an LR, or an LR/SC loop.
Style = Literal["plain", "amo", "amo.aq", "amo.rl", "amo.aqrl", "lrsc"]

# Links of an access to the previous access of its thread. `po`: only program order. `dep`: the
# address of a load, or the value of a store, is computed from the value of the last load. `ctrl`:
# the access follows a branch that depends on that value.
Link = Literal[
    "po", "fence rw,rw", "fence.tso", "fence w,w", "fence r,r", "fence r,w", "dep", "ctrl"
]
DEPENDENCIES: tuple[Link, ...] = ("dep", "ctrl")


@dataclass(frozen=True)
class LitmusAccess:
    """One memory access of a thread."""

    store: bool
    location: str
    value: int = 0  # value that a store writes
    style: Style = "plain"
    link: Link = "po"  # link to the previous access


@dataclass(frozen=True)
class Litmus:
    """Threads that run concurrently: a shape in one variant."""

    shape: str
    variant: str
    threads: tuple[tuple[LitmusAccess, ...], ...]

    @property
    def name(self) -> str:
        """Returns the name of the test, which is unique."""
        return f"{self.shape}+{self.variant}" if self.variant else self.shape

    @property
    def locations(self) -> tuple[str, ...]:
        """Returns the names of the locations in alphabetical order, as in outcomes."""
        return tuple(sorted({access.location for thread in self.threads for access in thread}))

    @property
    def loads(self) -> int:
        """Returns the number of loads, whose values are part of the outcome."""
        return sum(not access.store for thread in self.threads for access in thread)


Outcome = tuple[int, ...]  # values of loads by thread and program order, then of locations


def spelled(test: Litmus, outcome: Outcome) -> str:
    """Formats an outcome, such as `1:y=1 1:x=0 x=1 y=1`: loads as thread:location=value, then the
    final values in memory.
    """
    heads = [f"{n}:{a.location}" for n, t in enumerate(test.threads) for a in t if not a.store]
    heads += test.locations
    return " ".join(f"{head}={value}" for head, value in zip(heads, outcome, strict=True))
