"""The tree's Markdown: which pages there are, all written by people, and how long they are."""

from __future__ import annotations

from pathlib import Path

from uncore.support.paths import CHECKOUT

ROOT = CHECKOUT or Path()
INDEX = ROOT / "docs/README.md"
FOLDERS = ("sim", "tests", "topologies", "validation", "workloads")
PAGES = sorted(
    {*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")}
    | {page for folder in FOLDERS for page in (ROOT / folder).rglob("README.md")}
)


def word_count(page: Path) -> int:
    """The words of a page, and the bars of its tables, as `wc -w` counts them."""
    return len(page.read_text().split())
