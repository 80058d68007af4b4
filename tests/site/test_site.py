"""The site is pages that ask nobody for anything: built by its command, looked at in a browser."""

import re

import pytest
from docs.site import __main__ as site
from docs.site import offline as alone
from tests.site import wasm
from tests.trace.browser import faults, opened


def test_requests_to_elsewhere_are_taken_out():
    page = '<script src="https://unpkg.com/shim"></script><a href="https://x.org">x</a>'
    assert alone.on_post_page(page) == '<a href="https://x.org">x</a>'


@pytest.fixture(scope="module")
def built():
    pytest.importorskip("mkdocs")
    wasm.built()
    site.main()
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
def test_page_has_no_serious_fault_and_asks_nobody(built, name, dark):
    with opened(built / name, dark=dark, site=built) as shown:
        assert shown.locator("h1").count() == 1
        assert faults(shown) == []


@pytest.mark.long
def test_every_part_of_the_site_is_there(built):
    text = (built / "first.html").read_text()
    for part in ("playground", "docs/lessons/", "machines/", "docs/claims", "docs/validation"):
        assert re.search(f'href="{part}', text), part
    assert (built / "docs/lessons/ticket.html").is_file() and (built / "play.html").is_file()
