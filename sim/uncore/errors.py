"""The one exception that means "the user can mend this".

Its text is the whole message: it names the file and line, what was read, what was expected and what
to write instead.  The command line prints it and exits 2; a traceback is always our mistake.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class UserError(Exception):
    """A mistake in what the user wrote; the text says where, what, and what to write instead."""


def nearest(word: str, known: Iterable[str]) -> str:
    """` Did you mean 'x'?` for the known word most like `word`, or nothing where none is alike."""
    names = list(known)
    close = difflib.get_close_matches(word.lower(), [n.lower() for n in names], n=1, cutoff=0.5)
    match = next((n for n in names if close and n.lower() == close[0]), None)
    return f" Did you mean '{match}'?" if match else ""
