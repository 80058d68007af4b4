"""Makes names safe to print, because names of machines, programs and files may contain control
characters.

plain("Zen\x1b[2J")    ->  "Zen\\x1b[2J": no control character, no half of a surrogate pair, and
                          nothing that writes from right to left
"""

from __future__ import annotations

import re
from collections.abc import Callable

NOT_PRINTABLE_ASCII = re.compile(r"[^\n\t -~]")  # includes printable letters of other alphabets


def plain(text: str) -> str:
    """Escapes unprintable characters, except line ends and tabs."""
    return _escape_unprintable(text, _escaped)


def plain_json(text: str) -> str:
    """Escapes the characters that `plain` escapes, with JSON's escapes."""
    return _escape_unprintable(text, _in_json)


def _escape_unprintable(text: str, escape: Callable[[str], str]) -> str:
    return NOT_PRINTABLE_ASCII.sub(
        lambda match: match[0] if match[0].isprintable() else escape(match[0]), text
    )


def _escaped(letter: str) -> str:
    return letter.encode("unicode_escape").decode()


def _in_json(letter: str) -> str:
    units = letter.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))
