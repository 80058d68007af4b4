"""Notes of a command beside its table, and the words that it was called with."""

from __future__ import annotations

import shlex
import sys

from uncore.support.printable import plain


def note(text: str) -> None:
    """Prints a note on standard error, so that piped output stays clean."""
    print(plain(text), file=sys.stderr)


def command() -> str:
    """The words that this process was called with, to be copied."""
    return shlex.join(["uncore", *sys.argv[1:]])
