"""Can a student answer a question with a browser and without a mouse, and do the pages fit?

The question: how many line transfers does an MCS lock save with 16 threads, and where is this
shown?  Questions of other users are in tests/cli/sittings.toml. Pictures of the pages are written
to build/sittings.
"""

import pytest
from docs.site import front, playground
from tests.site import wasm
from tests.trace.browser import check_page, opened

ACTS = 10  # most keyboard actions that the student may need


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Writes the two pages that contain the simulator."""
    folder = tmp_path_factory.mktemp("student")
    engine = wasm.built().read_bytes()
    (folder / "index.html").write_text(front.page(engine))
    (folder / "play.html").write_text(playground.page(engine))
    return folder


def runs(shown):
    shown.wait_for_selector("html[data-ready]", timeout=60_000)
    shown.wait_for_selector('#job[aria-busy="false"]', timeout=60_000)


def tab_to(shown, css):
    for _ in range(60):
        if shown.evaluate("css => document.activeElement.matches(css)", css):
            return
        shown.keyboard.press("Tab")
    pytest.fail(f"{css} is not reached by Tab")


@pytest.mark.long
def test_student_answers_the_question_in_ten_keyboard_actions(site):
    acts = 0

    def act(shown, css, *keys):
        nonlocal acts
        acts += 1
        tab_to(shown, css)
        for key in keys:
            shown.keyboard.press(key)

    with opened(site / "index.html", site=site) as shown:
        shown.wait_for_selector("text=turns of", timeout=60_000)
        act(shown, 'nav a[href="play.html"]', "Enter")
        runs(shown)
        assert shown.input_value("#workload") == "lock/ticket"
        assert shown.input_value("#other") == "lock/mcs"
        act(shown, "#threads", "Control+A", "1", "6", "Enter")
        runs(shown)
        rows = [row.split("\t") for row in shown.locator("#points").inner_text().splitlines()]
        lines = {row[0]: float(row[5]) for row in rows}
        assert lines["lock/ticket"] > 2 * lines["lock/mcs"]
        act(shown, "#parameters-box summary", "Enter")
        act(shown, '#parameters [name="ops"]', "Control+A", "4", "Enter")
        runs(shown)
        act(shown, "#points tr:last-child button:last-child", "Enter")
        runs(shown)
        stepper = shown.frame_locator("#stepper")
        stepper.locator("#first").focus()
        before = stepper.locator("#time").input_value()
        shown.keyboard.press("t")
        assert stepper.locator("#time").input_value() != before
    assert acts <= ACTS


@pytest.mark.long
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [1280, 1920, 390])
@pytest.mark.parametrize("name", ["index", "play"])
def test_pages_fit_every_screen(site, name, width, dark):
    ready = {"index": "text=turns of", "play": "html[data-ready]"}[name]

    def wait(shown):
        shown.wait_for_selector(ready, state="attached", timeout=60_000)
        shown.locator('[aria-busy="true"]').wait_for(state="detached")

    check_page(site / f"{name}.html", width, dark, site, wait)
