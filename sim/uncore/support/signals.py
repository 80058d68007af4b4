"""Signals that ask a program to end: Ctrl-C, a terminal that closes, `kill`.

with interruptible(): ...    each signal raises KeyboardInterrupt, so that finished work is kept
with saving() as hold: ...   after hold() signals are blocked until the block has ended
with held_back(): ...        signals are blocked in this thread and in threads that it starts
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager

ENDING = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}


@contextmanager
def interruptible() -> Iterator[None]:
    """Makes signals raise KeyboardInterrupt; one that the user chose to ignore (nohup) stays
    ignored.
    """
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
    """Blocks the signals in this thread; threads and processes started here inherit that."""
    signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)


@contextmanager
def saving() -> Iterator[Callable[[], None]]:
    """Yields hold(), which blocks signals until the block ends, so that finished work reaches the
    disk.
    """

    def hold() -> None:
        signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)

    try:
        yield hold
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)
