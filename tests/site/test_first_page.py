"""Does the site's first page simulate two locks when it opens, without a network request?"""

import pytest
from docs.site import front
from tests.site import wasm
from tests.trace.browser import faults, opened


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    path = tmp_path_factory.mktemp("first") / "index.html"
    path.write_text(front.page(wasm.built().read_bytes()))
    return path


# script that counts the requests of the page to its worker until the first simulation is shown
ASKED = """
const post = Worker.prototype.postMessage;
window.asked = [];
Worker.prototype.postMessage = function (message, ...more) {
  if (!document.documentElement.dataset.running) window.asked.push(message);
  return post.call(this, message, ...more);
};
"""


@pytest.mark.long
def test_first_page_needs_one_small_file_and_one_simulation_of_at_most_50_microseconds(page):
    """The page must not load, compile or simulate anything else, so that it is fast on any host."""
    assert page.stat().st_size < 3_000_000
    with opened(page, script=ASKED) as shown:  # the page needs no network
        shown.wait_for_selector("html[data-running]", state="attached", timeout=60_000)
        engine, *jobs = shown.evaluate("asked.map(({ wasm, watch, job }) => wasm ? 'wasm' : job)")
        assert engine == "wasm" and len(jobs) == 1
        assert sum(jobs[0]["window"]) <= 50_000_000 and jobs[0]["threads"] == [64]


@pytest.mark.long
@pytest.mark.parametrize(("width", "dark"), [(1920, False), (390, True)])
def test_page_simulates_when_opened_and_passes_axe(page, width, dark):
    with opened(page, width=width, dark=dark) as shown:
        shown.wait_for_selector("text=turns of", timeout=60_000)
        turns = [int(shown.text_content(f"#done{n}")) for n in (0, 1)]
        assert turns[1] > 2 * turns[0] > 0
        assert shown.evaluate("document.documentElement.scrollWidth") <= width
        assert faults(shown) == []
