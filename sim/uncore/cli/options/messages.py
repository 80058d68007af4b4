"""Notes of a command beside its table, and the words that it was called with."""

from __future__ import annotations

import shlex
import sys
from typing import TextIO

from uncore.errors import Unfinished
from uncore.support.printable import plain


def note(text: str) -> None:
    """Prints a note on standard error, so that piped output stays clean."""
    print(plain(text), file=sys.stderr)


def show_unfinished(stopped: BaseException, file: TextIO | None = None) -> None:
    """Prints what a program had written when its run ended before it did."""
    if text := Unfinished.output_of(stopped):
        print(plain(text), end="" if text.endswith("\n") else "\n", file=file)


def command() -> str:
    """The words that this process was called with, to be copied."""
    return shlex.join(["uncore", *sys.argv[1:]])
