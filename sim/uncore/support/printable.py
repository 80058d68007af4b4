"""Names as they may be printed: machines, programs and files have any, a terminal obeys some.

plain("Zen\x1b[2J")    ->  "Zen\\x1b[2J": no control character, no half of one, nothing that
                          writes from right to left
"""

from __future__ import annotations

import re
from collections.abc import Callable

ODD = re.compile(r"[^\n\t -~]")  # some of these are printable too, in other alphabets


def plain(text: str) -> str:
    """Lines and tabs stay."""
    return _replaced(text, _escaped)


def plain_json(text: str) -> str:
    """The same of JSON, which escapes some of them itself, and others in another way."""
    return _replaced(text, _in_json)


def _replaced(text: str, by: Callable[[str], str]) -> str:
    return ODD.sub(lambda odd: odd[0] if odd[0].isprintable() else by(odd[0]), text)


def _escaped(letter: str) -> str:
    return letter.encode("unicode_escape").decode()


def _in_json(letter: str) -> str:
    units = letter.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))
