"""Finds comments that do not begin like a sentence ("What ...", "Of a ...", "Whether ..."), by
room.

A comment is clear at first reading if it begins with a verb or a noun.  Comments of fewer than four
words are labels and do not count.  A room is a folder two levels below the top, `sim/native`.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from tests.house import comments
from tests.house.tracked import TOP, of_kind

OPENINGS = frozenset(
    ["as", "by", "how", "of", "those", "what", "where", "whether", "which", "who", "whom", "whose"]
)
LABEL = 3  # most words of a comment that counts as a label
WORD = re.compile(r"[A-Za-z][\w'-]*")


def is_counted(text: str) -> bool:
    return len(WORD.findall(text)) > LABEL


def opens_badly(text: str) -> bool:
    return WORD.findall(text)[0].lower() in OPENINGS


def shares() -> dict[str, float]:
    """Returns the percentage of each room's comments that open badly."""
    every, bad = Counter[str](), Counter[str]()
    for path in of_kind(".py", *comments.C_LIKE):
        for comment in comments.of_file(path):
            if is_counted(comment.text):
                every[room(path)] += 1
                bad[room(path)] += opens_badly(comment.text)
    return {name: 100 * bad[name] / every[name] for name in sorted(every)}


def room(path: Path) -> str:
    return "/".join(path.relative_to(TOP).parts[:-1][:2]) or "."
