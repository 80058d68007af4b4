"""What a command says beside its table, and the words that it was called with."""

from __future__ import annotations

import shlex
import sys

from uncore.support.printable import plain


def note(text: str) -> None:
    """Says where something was written, without disturbing what is piped."""
    print(plain(text), file=sys.stderr)


def command() -> str:
    """The words that this process was called with, to be copied."""
    return shlex.join(["uncore", *sys.argv[1:]])
