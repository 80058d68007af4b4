"""Handles signals that request the end of a program: Ctrl-C, a terminal that closes, `kill`.

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
    """Makes signals raise KeyboardInterrupt, except a signal that the user has chosen to ignore
    (nohup).
    """
    old_handlers = {}
    for number in ENDING - {signal.SIGINT}:
        if signal.getsignal(number) != signal.SIG_IGN:
            old_handlers[number] = signal.signal(number, signal.default_int_handler)
    try:
        yield
    finally:
        for number, handler in old_handlers.items():
            signal.signal(number, handler)


@contextmanager
def held_back() -> Iterator[None]:
    """Blocks the signals in this thread, and in threads and processes that the block starts."""
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
