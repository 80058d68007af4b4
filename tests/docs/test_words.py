"""Do pages avoid words that the glossary forbids, and do the rules and functions that they name
exist?

The words are read from the glossary (docs/glossary.md), so only that page must change.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.docs.pages import ROOT

GLOSSARY = ROOT / "docs/glossary.md"
TEXT = {".py", ".md", ".toml", ".table", ".h", ".c", ".hh", ".cc"}


def texts(*folders: str) -> Iterator[Path]:
    """Yields README.md, and all texts in the folders."""
    yield ROOT / "README.md"
    for folder in folders:
        yield from (p for p in sorted((ROOT / folder).rglob("*")) if p.suffix in TEXT)


def rows_below(heading: str) -> list[list[str]]:
    """Returns the rows of the table below a heading of the glossary."""
    below = GLOSSARY.read_text().partition(heading + "\n")[2].partition("\n#")[0]
    rows = [line.strip("| ").split(" | ") for line in below.splitlines() if line.startswith("|")]
    return rows[2:]


@pytest.mark.parametrize("phrase", [row[0] for row in rows_below("## Words that are not used")])
def test_forbidden_word_is_not_used(phrase: str) -> None:
    # A word that continues with an underscore belongs to a foreign name, such as a file of Linux.
    spelt = re.compile(rf"\b{phrase}(?!_)", re.IGNORECASE)
    uses = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in texts("docs", "sim", "tests", "topologies", "validation", "workloads")
        if path != GLOSSARY
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if spelt.search(line)
    ]
    assert uses == []


@pytest.mark.parametrize(
    "heading", ["## Coherence", "### Messages", "## Harts and cores", "## Machine and time"]
)
def test_names_of_the_glossary_are_in_the_code(heading: str) -> None:
    code = "\n".join(path.read_text() for path in texts("sim"))
    column = 0 if heading == "### Messages" else -1
    names = [name for row in rows_below(heading) for name in re.findall(r"`([\w.]+)`", row[column])]
    assert names
    assert [name for name in names if not re.search(rf"\b{re.escape(name)}", code)] == []


def test_cited_parts_of_rules_exist() -> None:
    pages = (ROOT / "docs/model.md", ROOT / "docs/model-system.md")
    model = "\n".join(page.read_text() for page in pages)
    stated = set(re.findall(r"\*\*([A-Z]\d+\.\d+)\.\*\*", model))
    assert stated
    missing = {
        (path.relative_to(ROOT), rule)
        for path in texts("docs", "sim", "tests", "validation")
        for rule in re.findall(r"\b[ATFHCRJMISVKPLD]\d\.\d\b", path.read_text())
        if rule not in stated
    }
    assert missing == set()


def test_functions_of_the_walk_are_in_the_files_that_it_names() -> None:
    page = ROOT / "docs/walk.md"
    steps = re.findall(r"^\d+\. .*$", page.read_text(), re.MULTILINE)
    assert steps
    for step in steps:
        files = [page.parent / link for link in re.findall(r"\]\((\.\./sim/[^)]+)\)", step)]
        code = "\n".join(file.read_text() for file in files)
        functions = re.findall(r"`\w+::(\w+)`", step)
        assert functions
        assert [name for name in functions if not re.search(rf"\b{name}\(", code)] == []
