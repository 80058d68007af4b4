"""Do the pages keep their word: names that exist, rules that exist, links that lead somewhere?

The glossary (docs/glossary.md) is read here, so that a word is added or forbidden in one place.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from uncore.paths import CHECKOUT

ROOT = CHECKOUT or Path()
GLOSSARY = ROOT / "docs/glossary.md"
FOLDERS = ("sim", "topologies", "validation", "workloads")
PAGES = sorted(
    {*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")}
    | {page for folder in FOLDERS for page in (ROOT / folder).rglob("README.md")}
)
GENERATED = set("claims commands fences ledger machine protocol result validation".split())
TEXT = {".py", ".md", ".toml", ".table", ".h", ".c", ".hh", ".cc"}


def texts(*folders: str) -> Iterator[Path]:
    """What people read: the first page, and all text below the folders."""
    yield ROOT / "README.md"
    for folder in folders:
        yield from (p for p in sorted((ROOT / folder).rglob("*")) if p.suffix in TEXT)


def columns(heading: str) -> list[list[str]]:
    """The rows of the table below a heading of the glossary."""
    below = GLOSSARY.read_text().partition(heading + "\n")[2].partition("\n#")[0]
    rows = [line.strip("| ").split(" | ") for line in below.splitlines() if line.startswith("|")]
    return rows[2:]


@pytest.mark.parametrize("phrase", [row[0] for row in columns("## Words that are not used")])
def test_a_word_that_is_not_used_is_not_used(phrase: str) -> None:
    spelt = re.compile(rf"\b{phrase}", re.IGNORECASE)
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in texts("docs", "sim", "topologies", "validation", "workloads")
        if path != GLOSSARY
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if spelt.search(line)
    ]
    assert found == []


@pytest.mark.parametrize(
    "heading", ["## Coherence", "### Messages", "## Harts and cores", "## Machine and time"]
)
def test_a_name_that_the_glossary_gives_is_in_the_code(heading: str) -> None:
    code = "\n".join(path.read_text() for path in texts("sim"))
    place = 0 if heading == "### Messages" else -1
    names = [name for row in columns(heading) for name in re.findall(r"`([\w.]+)`", row[place])]
    assert names
    assert [name for name in names if not re.search(rf"\b{re.escape(name)}", code)] == []


def test_a_part_of_a_rule_that_is_cited_exists() -> None:
    pages = (ROOT / "docs/model.md", ROOT / "docs/model-system.md")
    model = "\n".join(page.read_text() for page in pages)
    stated = set(re.findall(r"\*\*([A-Z]\d+\.\d+)\.\*\*", model))
    assert stated
    cited = {
        (path.relative_to(ROOT), rule)
        for path in texts("docs", "sim", "validation")
        for rule in re.findall(r"\b[ATFHCRJMISVKPLD]\d\.\d\b", path.read_text())
        if rule not in stated
    }
    assert cited == set()


def anchors(page: Path) -> set[str]:
    """What a link may name of a page: its headings, as GitHub and MkDocs spell them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    plain = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings)
    return {words.strip().replace(" ", "-") for words in plain}


def leads_somewhere(page: Path, link: str) -> bool:
    path, _, anchor = link.partition("#")
    target = page.parent / path if path else page
    return target.exists() and (not anchor or anchor in anchors(target))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_link_of_a_page_leads_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)\s]+)\)", page.read_text())
    targets = [link for link in links if "://" not in link]
    assert [link for link in targets if not leads_somewhere(page, link)] == []


def test_index_says_how_long_each_page_is() -> None:
    """A page, or a folder's pages, within a fifth of what docs/README.md says."""
    index = ROOT / "docs/README.md"
    rows = re.findall(r"^\| \[[^]]*\]\(([^)]+)\) \| ([\d,]+) \|", index.read_text(), re.MULTILINE)
    assert len(rows) > 20
    for link, stated in rows:
        page = (index.parent / link).resolve()
        whole = page.name == "README.md" and page.parent.name in ("lessons", "notes")
        words = sum(words_of(one) for one in (page.parent.glob("*.md") if whole else [page]))
        assert words == pytest.approx(int(stated.replace(",", "")), rel=0.2), link


def test_hand_written_pages_are_at_most_60000_words() -> None:
    written = [page for page in PAGES if page.stem not in GENERATED or page.parent.name != "docs"]
    assert sum(map(words_of, written)) <= 60_000


def words_of(page: Path) -> int:
    """Words and bars of tables; what is derived from a schema, behind a mark, is not written."""
    return len(page.read_text().partition("<!-- derived -->")[0].split())


def test_each_step_of_the_walk_names_functions_that_are_where_it_says() -> None:
    page = ROOT / "docs/walk.md"
    steps = re.findall(r"^\d+\. .*$", page.read_text(), re.MULTILINE)
    assert steps
    for step in steps:
        files = [page.parent / link for link in re.findall(r"\]\((\.\./sim/[^)]+)\)", step)]
        code = "\n".join(file.read_text() for file in files)
        functions = re.findall(r"`\w+::(\w+)`", step)
        assert functions
        assert [name for name in functions if not re.search(rf"\b{name}\(", code)] == []
