"""Notes on standard error, the output of stopped programs, and the command line."""

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
    """Prints a program's output up to the point at which its run was stopped."""
    if text := Unfinished.output_of(stopped):
        print(plain(text), end="" if text.endswith("\n") else "\n", file=file)


def command() -> str:
    """Returns the command line of this process, quoted for copying."""
    return shlex.join(["uncore", *sys.argv[1:]])
