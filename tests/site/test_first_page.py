"""The site's first page simulates two locks by itself, and asks nobody."""

import gzip

import pytest
from docs.site import front
from tests.site import wasm
from tests.trace.browser import faults, opened


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    path = tmp_path_factory.mktemp("first") / "index.html"
    path.write_text(front.page(wasm.built().read_bytes()))
    return path


@pytest.mark.long
def test_page_is_less_than_three_megabytes(page):
    assert len(gzip.compress(page.read_bytes())) < 3_000_000


@pytest.mark.long
@pytest.mark.parametrize(("width", "dark"), [(1920, False), (390, True)])
def test_page_runs_by_itself_and_has_no_serious_fault(page, width, dark):
    with opened(page, width=width, dark=dark) as shown:
        shown.wait_for_selector("html[data-running]", state="attached", timeout=60_000)
        turns = [int(shown.text_content(f"#done{n}")) for n in (0, 1)]
        assert turns[1] > 2 * turns[0] > 0
        assert shown.evaluate("document.documentElement.scrollWidth") <= width
        assert faults(shown) == []
