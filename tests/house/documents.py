"""Counts the words of documents that people write: Markdown files without parts that a command
writes."""

from __future__ import annotations

import re

from tests.house.tracked import name, of_kind

# number of characters at the start of a page in which WRITTEN, the note that a command wrote the
# page, is searched for
HEAD = 800
WRITTEN = re.compile(
    r"\b(?:made|written)\b.*?\bby\s+`(?:python -m|uncore) |\bwrites\s+this\s+page",
    re.DOTALL | re.IGNORECASE,
)
# a part of a page that a command writes
PART = re.compile(r"<!-- \w+ -->.*?<!-- end -->", re.DOTALL)


def words() -> dict[str, int]:
    """Counts the words of each page."""
    texts = {name(path): path.read_text() for path in of_kind(".md")}
    return {
        page: of_people(text) for page, text in texts.items() if not WRITTEN.search(text[:HEAD])
    }


def of_people(text: str) -> int:
    return len(PART.sub("", text).split())
