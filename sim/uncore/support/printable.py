"""Names as they may be printed: machines, programs and files have any, a terminal obeys some.

plain("Zen\x1b[2J")    ->  "Zen\\x1b[2J": no control character, no half of one, nothing that
                          writes from right to left
"""

from __future__ import annotations


def plain(text: str) -> str:
    """Lines and tabs stay."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in "\n\t" else _escaped(c) for c in text)


def plain_json(text: str) -> str:
    """The same of JSON, which escapes some of them itself, and others in another way."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in "\n\t" else _in_json(c) for c in text)


def _escaped(letter: str) -> str:
    return letter.encode("unicode_escape").decode()


def _in_json(letter: str) -> str:
    units = letter.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))
