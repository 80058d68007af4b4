"""Lets only one process of pytest at a time build something that all processes use."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager

from uncore.support.paths import CHECKOUT


@contextmanager
def alone(name: str) -> Iterator[None]:
    """Waits until no other process is inside a block with the same name."""
    assert CHECKOUT
    with open(CHECKOUT / f"build/{name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
