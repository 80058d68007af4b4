"""Are the links, the index and the beginnings of sentences in the manual correct?"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.docs.pages import INDEX, PAGES, ROOT, word_count

LINK = re.compile(r"\]\(([^)\s]+)\)")
FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
# the text before the first word of a sentence
SENTENCE = r"(?:^[\s*|>#\d.-]*|[.!?:]\)? |\*\* |\()"
AWKWARD = re.compile(SENTENCE + r"(?:Of|By|As|Who|Until)\b.{0,40}", re.MULTILINE)


def anchors(page: Path) -> set[str]:
    """Returns the headings of a page in the form that links use, on GitHub and in MkDocs."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    plain = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings)
    return {words.strip().replace(" ", "-") for words in plain}


def leads_somewhere(page: Path, link: str) -> bool:
    path, _, anchor = link.partition("#")
    target = page.parent / path if path else page
    return target.exists() and (not anchor or anchor in anchors(target))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_of_a_page_lead_to_existing_pages_and_headings(page: Path) -> None:
    links = [link for link in LINK.findall(page.read_text()) if "://" not in link]
    assert [link for link in links if not leads_somewhere(page, link)] == []


def test_index_links_to_every_page() -> None:
    """Each page of docs is linked by the index, or by the README of its folder."""
    folders = {page.parent for page in PAGES if INDEX.parent in (page.parent, *page.parents)}
    indices = [folder / "README.md" for folder in folders]
    linked = {
        (page.parent / link).resolve()
        for page in indices
        for link in LINK.findall(page.read_text())
    }
    pages = {page for page in PAGES if page.parent in folders} - {INDEX}
    assert sorted(pages - linked) == []


def test_index_states_the_length_of_each_page() -> None:
    """The stated number of words of a page, or of a folder's pages, is right within a fifth."""
    rows = re.findall(r"^\| \[[^]]*\]\(([^)]+)\) \| ([\d,]+) \|", INDEX.read_text(), re.MULTILINE)
    assert len(rows) > 20
    for link, stated in rows:
        page = (INDEX.parent / link).resolve()
        is_folder = page.name == "README.md" and page.parent.name in ("lessons", "notes")
        pages = page.parent.glob("*.md") if is_folder else [page]
        words = sum(word_count(part) for part in pages)
        assert words == pytest.approx(int(stated.replace(",", "")), rel=0.2), link


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_no_sentence_of_a_page_begins_with_of_by_as_who_or_until(page: Path) -> None:
    prose = re.sub(r"^ {4}.*$", "", FENCED.sub("", page.read_text()), flags=re.MULTILINE)
    assert AWKWARD.findall(prose) == []
