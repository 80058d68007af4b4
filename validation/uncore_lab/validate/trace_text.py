"""Reads the text of a user's trace, and formats numbers in tables about it.

    numbered(path) -> [(FILE:LINE, line)]      UserError if the file cannot be read
    unread(place, line, expected, example)     the error for a line that is no record

Invariants: a file that exceeds the size limit is refused; bytes that are no text affect only their
own line.
"""

from __future__ import annotations

from pathlib import Path

from uncore.errors import UserError
from uncore.support.input_files import read_bounded

MAX_TRACE_BYTES = 1 << 28
MAX_QUOTED_LETTERS = 120


def numbered(path: Path) -> list[tuple[str, str]]:
    """Returns each line that is not blank, with its place. Names of processes may contain arbitrary
    bytes.
    """
    try:
        text = read_bounded(path, MAX_TRACE_BYTES).decode(errors="replace")
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from None
    return [(f"{path}:{n}", line) for n, line in enumerate(text.split("\n"), 1) if line.strip()]


def unreadable(place: str, line: str, expected: str, example: str) -> UserError:
    quoted = line.strip()
    if len(quoted) > MAX_QUOTED_LETTERS:
        quoted = f"{quoted[:MAX_QUOTED_LETTERS]}..."
    return UserError(f"{place}: read '{quoted}'; expected {expected}, such as '{example}'")


def whole_ns(value: float | None) -> str:
    return "" if value is None else f"{value:.0f}"


def signed_pct(value: float | None) -> str:
    return "" if value is None else f"{value:+.0f}"
