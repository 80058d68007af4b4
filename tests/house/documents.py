"""Documents that people write: Markdown that no command of the project writes."""

from __future__ import annotations

import re

from tests.house.tracked import name, of_kind

HEAD = 800  # characters, in which a page says that a command writes it
WRITTEN = re.compile(
    r"\b(?:made|written)\b.*?\bby\s+`(?:python -m|uncore) |\bwrites\s+this\s+page",
    re.DOTALL | re.IGNORECASE,
)


def words() -> dict[str, int]:
    """By page."""
    texts = {name(path): path.read_text() for path in of_kind(".md")}
    return {
        page: len(text.split()) for page, text in texts.items() if not WRITTEN.search(text[:HEAD])
    }
