"""Signals that ask a program to end: Ctrl-C, a terminal that closes, `kill`.

with interruptible(): ...    each of them is a KeyboardInterrupt, so what is finished is kept
with saving() as hold: ...   from hold() on none comes until the block has ended
with held_back(): ...        none comes to this thread, nor to what it starts, before those know how
                             to take it
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager

ENDING = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}


@contextmanager
def interruptible() -> Iterator[None]:
    """A signal that the user has chosen to ignore (nohup) stays ignored."""
    before = {}
    for number in ENDING - {signal.SIGINT}:
        if signal.getsignal(number) != signal.SIG_IGN:
            before[number] = signal.signal(number, signal.default_int_handler)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def held_back() -> Iterator[None]:
    """Threads and processes that begin here keep it so, unless they say otherwise."""
    signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)


@contextmanager
def saving() -> Iterator[Callable[[], None]]:
    """Context in which finished work reaches the disk before a signal can end the program."""

    def hold() -> None:
        signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)

    try:
        yield hold
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)
