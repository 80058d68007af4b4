"""Reads input for a booted kernel, from a terminal key by key, from other files line by line.

    with keyboard(sys.stdin) as read_keys:    read_keys() -> str, "" at the end of input

The guest echoes and edits its input, so within the block the terminal does neither, and delivers
each key immediately.  A process in the background (`&`) leaves the terminal unchanged.
"""

from __future__ import annotations

import os
import termios
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

END_OF_INPUT = b"\x04"  # Ctrl-D
MAX_READ_BYTES = 1024


@contextmanager
def keyboard(stream: TextIO | None) -> Iterator[Callable[[], str]]:
    """Yields a function that returns input; if `stream` is None, it returns ""."""
    if stream is None:
        yield str
        return
    if not (stream.isatty() and _may_change_terminal(stream.fileno())):
        yield stream.readline
        return
    terminal = stream.fileno()
    attributes = termios.tcgetattr(terminal)
    key_by_key = termios.tcgetattr(terminal)
    key_by_key[3] &= ~(termios.ECHO | termios.ICANON)
    key_by_key[6][termios.VMIN], key_by_key[6][termios.VTIME] = 1, 0

    def read_keys() -> str:
        keys = os.read(terminal, MAX_READ_BYTES)
        return "" if keys == END_OF_INPUT else keys.decode(errors="replace")

    try:
        termios.tcsetattr(terminal, termios.TCSANOW, key_by_key)
        yield read_keys
    finally:
        termios.tcsetattr(terminal, termios.TCSANOW, attributes)


def _may_change_terminal(terminal: int) -> bool:
    """True if this process may change the terminal, because it is in the foreground or has no
    controlling terminal.
    """
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:
        return True
