"""The Markdown pages that people wrote, and their lengths."""

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
    """Counts words as `wc -w` does, so it also counts the vertical bars of tables."""
    return len(page.read_text().split())
