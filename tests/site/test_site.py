"""Does the site's command build pages that work in a browser without requests to other servers?"""

import os
import re

import pytest
from docs.site import __main__ as site
from docs.site import offline
from tests.site import wasm
from tests.support.one_process import alone
from tests.trace.browser import faults, opened


def test_requests_to_other_servers_are_removed():
    page = '<script src="https://unpkg.com/shim"></script><a href="https://x.org">x</a>'
    assert offline.on_post_page(page) == '<a href="https://x.org">x</a>'


@pytest.fixture(scope="module")
def built():
    """Builds the site in the first worker of a test run, while the other workers wait."""
    pytest.importorskip("mkdocs")
    wasm.built()
    run, made = os.environ.get("PYTEST_XDIST_TESTRUNUID", ""), site.SITE.with_name("site-run")
    with alone("site"):
        if not run or not made.is_file() or made.read_text() != run:
            site.main()
            made.write_text(run)
    return site.SITE


PAGES = (
    "index.html",
    "first.html",
    "docs/cli.html",
    "docs/protocol.html",
    "docs/results/locks.html",
    "machines/epyc7302x2.html",
    "machines/index.html",
)


@pytest.mark.long
@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("dark", [False, True])
def test_page_passes_axe_and_loads_nothing_from_the_network(built, name, dark):
    with opened(built / name, dark=dark, site=built) as shown:
        assert shown.locator("h1").count() == 1
        assert faults(shown) == []


@pytest.mark.long
def test_front_page_of_the_site_links_to_its_parts(built):
    text = (built / "first.html").read_text()
    for part in ("playground", "docs/lessons/", "machines/", "docs/claims", "docs/validation"):
        assert re.search(f'href="{part}', text), part
    assert (built / "docs/lessons/ticket.html").is_file() and (built / "play.html").is_file()


@pytest.mark.long
@pytest.mark.parametrize("width", [1280, 390])
def test_search_works_in_a_page_opened_as_a_file(built, width):
    with opened(built / "docs/cli.html", width=width, site=built) as shown:
        if width < 1000:
            shown.click(".md-header__button[for=__search]")
        shown.click(".md-search__input")
        shown.keyboard.type("resolver")
        found = shown.locator(".md-search-result__item")
        found.first.wait_for()
        assert "resolver" in found.first.text_content().lower()


@pytest.mark.long
def test_every_markdown_table_is_rendered_as_a_table(built):
    """A Markdown table directly below text would not become a table of the page."""
    assert [page for page in built.rglob("*.html") if "|---" in page.read_text()] == []


@pytest.mark.long
def test_output_of_a_hundred_columns_is_fully_visible(built):
    with opened(built / "first.html", width=1280, site=built) as shown:
        widths = "boxes => boxes.map(box => box.scrollWidth - box.clientWidth)"
        outputs = shown.locator("pre > code", has_text="uncore run graviton2")
        assert outputs.count() >= 2 and max(outputs.evaluate_all(widths)) <= 0
