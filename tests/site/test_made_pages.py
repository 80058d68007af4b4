"""Do all generated pages of the site exist, and do their links lead to pages or files?"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from docs.site import __main__ as site
from docs.site import claims, reference, results

from uncore.cli.commands import COMMANDS
from uncore.protocol.table_shapes import PROTOCOLS
from uncore_lab.claims.collection import load as load_claims
from uncore_lab.predict.ledger import entries
from uncore_lab.results.table import load

LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
MADE_LATER = (".html", "machines/", "playground.md")  # pages that other parts of the site make


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pages")
    site.copy_manual(folder)
    reference.write(folder)
    results.write(folder / "docs")
    return folder


def test_every_link_leads_to_a_page_or_file(pages: Path) -> None:
    links = [
        (page.relative_to(pages), link)
        for page in sorted(pages.rglob("*.md"))
        for link in LINK.findall(page.read_text())
        if "://" not in link and not any(part in link for part in MADE_LATER)
    ]
    assert len(links) > 100
    assert [(page, link) for page, link in links if not (pages / page.parent / link).exists()] == []


def test_every_page_of_the_menu_is_made(pages: Path) -> None:
    menu = re.findall(r"- (?:[^:\n]+: )?(docs/\S+\.md)", (site.HERE / "mkdocs.yml").read_text())
    assert "docs/claims.md" in menu and "docs/results/locks.md" in menu
    assert [name for name in menu if not (pages / name).is_file()] == []


def test_no_page_of_the_manual_replaces_a_lesson(pages: Path) -> None:
    assert [page.name for page in (pages / "docs/lessons").iterdir()] == ["README.md"]


def test_page_of_commands_has_every_command(pages: Path) -> None:
    text = (pages / "docs/commands.md").read_text()
    assert [name for name in COMMANDS if f"\n## uncore {name}\n" not in text] == []


def test_page_of_the_protocol_shows_a_diagram_of_each_protocol(pages: Path) -> None:
    text = (pages / "docs/protocol.md").read_text()
    for name in PROTOCOLS:
        assert f"(protocol-{name}.svg)" in text
        drawn = (pages / f"docs/protocol-{name}.svg").read_text()
        assert f"{name.upper()}: a line" in drawn and 'data-state="I"' in drawn


def test_commands_that_print_a_page_are_links_to_it() -> None:
    text = "See `uncore show --keys`, or [`uncore claims`](claims.md)."
    assert reference.linked(text, "docs/cli.md") == (
        "See [`uncore show --keys`](machine.md), or [`uncore claims`](claims.md)."
    )
    assert "](../docs/machine.md)" in reference.linked(text, "topologies/README.md")


def test_page_of_validation_has_every_bar(pages: Path) -> None:
    text = (pages / "docs/validation.md").read_text()
    assert "<!--" not in text
    assert [line["bar"] for line in load("bars") if line["bar"] not in text] == []


def test_page_of_claims_has_every_claim_with_its_answer(pages: Path) -> None:
    text = (pages / "docs/claims.md").read_text()
    assert [claim.id for claim in load_claims() if text.count(f"`{claim.id}`") < 2] == []
    assert claims.page() == text


def test_page_of_the_ledger_has_every_machine_that_was_predicted(pages: Path) -> None:
    text = (pages / "docs/ledger.md").read_text()
    rows = [f"| {e.machine} | {e.date} | {e.predicted.commit} |" for e in entries()]
    assert [row for row in rows if row not in text] == []


@pytest.mark.parametrize("name", ["locks", "scaling", "contention", "booted"])
def test_pages_with_tables_of_curves_draw_the_curves(pages: Path, name: str) -> None:
    folder = pages / "docs/results"
    pictures = re.findall(r"!\[[^]]*\]\(([^)]+)\)", (folder / f"{name}.md").read_text())
    assert pictures
    assert all((folder / picture).read_bytes().startswith(b"\x89PNG") for picture in pictures)
