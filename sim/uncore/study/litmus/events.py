"""Litmus tests as data.

    LitmusAccess  one load or store of a thread, how it is written, and what stands before it
    Litmus     a name and one list of accesses per thread; all locations hold 0 at the start

A test's outcome is the value every load returned, thread by thread, and then the value each
location holds at the end.  Values are small numbers; 0 is what was there before.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

# Forms of an access: a plain load or store; an AMO that writes back the value it read, or swaps,
# with its annotations; LR for a load and an LR/SC loop for a store.
Style = Literal["plain", "amo", "amo.aq", "amo.rl", "amo.aqrl", "lrsc"]

# Links of an access to the one before it in its thread. `dep`: the address of a load, or the value
# of a store, is computed from the value that the load before it returned; `ctrl`: a branch depends
# on it.
Link = Literal[
    "po", "fence rw,rw", "fence.tso", "fence w,w", "fence r,r", "fence r,w", "dep", "ctrl"
]
DEPENDENCIES: tuple[Link, ...] = ("dep", "ctrl")


@dataclass(frozen=True)
class LitmusAccess:
    """One memory access of a thread."""

    store: bool
    location: str
    value: int = 0  # value that a store stores
    style: Style = "plain"
    link: Link = "po"  # to the access before it


@dataclass(frozen=True)
class Litmus:
    """Threads that run at once: a shape, and how it is written down."""

    shape: str
    variant: str
    threads: tuple[tuple[LitmusAccess, ...], ...]

    @property
    def name(self) -> str:
        """Unique."""
        return f"{self.shape}+{self.variant}" if self.variant else self.shape

    @property
    def locations(self) -> tuple[str, ...]:
        """In alphabetical order, as in outcomes."""
        return tuple(sorted({access.location for thread in self.threads for access in thread}))

    @property
    def loads(self) -> int:
        """Number of loads that return a value."""
        return sum(not access.store for thread in self.threads for access in thread)


Outcome = tuple[int, ...]  # loads in the order of threads and programs, then locations


def spelled(test: Litmus, outcome: Outcome) -> str:
    """`1:y=1 1:x=0 x=1 y=1`: thread and location of each load, then memory."""
    heads = [f"{n}:{a.location}" for n, t in enumerate(test.threads) for a in t if not a.store]
    heads += test.locations
    return " ".join(f"{head}={value}" for head, value in zip(heads, outcome, strict=True))
