"""Opens pages in headless Chromium; tests that need it are skipped if it is not installed.

    with opened(path) as page: ...      a Playwright page; console messages and requests are errors

Invariant: when the block ends, the page has written nothing to its console and requested nothing.
"""

import shutil
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome")


@cache
def browser():
    playwright = pytest.importorskip("playwright.sync_api")
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if not path:
        pytest.skip("no Chromium here: apt-get install chromium")
    running = playwright.sync_playwright().start()
    return running.chromium.launch(executable_path=path, args=["--no-sandbox"])


@contextmanager
def opened(path, address="", width=1280, height=800, dark=False, site=None, script=""):
    """Opens a page. If it belongs to a site, `site` is the folder whose files it may request.
    `script` runs before the page's own scripts.
    """
    heard = []
    view = {"width": width, "height": height}
    scheme = "dark" if dark else "light"
    page = browser().new_page(viewport=view, color_scheme=scheme, reduced_motion="reduce")
    page.add_init_script(script)
    page.on("console", lambda message: heard.append(f"console: {message.text}"))
    page.on("pageerror", lambda error: heard.append(f"error: {error}"))
    page.on("request", lambda request: heard.append(f"request: {request.url}"))
    page.goto(f"{path.as_uri()}{address}")
    # waits until the page has unpacked its data
    page.locator('[aria-busy="true"]').wait_for(state="detached")
    heard = [line for line in heard if not line.startswith(f"request: {path.as_uri()}")]
    try:
        yield page
        # requests of the page for itself
        own = ("request: blob:", f"request: {(site or path).as_uri()}")
        assert [h for h in heard if path.as_uri() not in h and not h.startswith(own)] == []
    finally:
        page.close()


def faults(page):
    """Returns the serious and critical violations that axe finds, one on each line."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    quiet = {"preload": False}  # keeps axe from requesting the page's own styles
    violations = axe.run(page, options=quiet).response["violations"]
    return [f"{v['id']}: {v['help']}" for v in violations if v["impact"] in ("serious", "critical")]


PICTURES = Path(__file__).resolve().parents[2] / "build/sittings"
ON_SCREEN = "document.documentElement.scrollWidth"
REACHABLE = """[...document.querySelectorAll(
  'a[href], button, input, select, summary, iframe, [tabindex="0"]')].filter(node =>
  !node.disabled && node.tabIndex >= 0 && node.checkVisibility({ visibilityProperty: true })
).length"""
FOCUSED = """() => {
  const node = document.activeElement;
  if (node === document.body) return null;
  const all = [...document.querySelectorAll('*')];
  return all.indexOf(node);
}"""


def check_page(path, width, dark, site=None, do=lambda shown: None):
    """Checks that a page writes nothing to the console, requests nothing, breaks no serious rule of
    accessibility (axe), is no wider than the screen, and that Tab reaches every control. Calls `do`
    before the checks, and writes a picture to build/sittings.
    """
    with opened(path, width=width, dark=dark, site=site) as shown:
        do(shown)
        assert shown.evaluate(ON_SCREEN) <= width, f"{path.name}: wider than {width}"
        assert faults(shown) == [], path.name
        PICTURES.mkdir(parents=True, exist_ok=True)
        shown.screenshot(path=PICTURES / f"{path.stem}-{width}-{'dark' if dark else 'light'}.png")
        reached = set()
        for _ in range(shown.evaluate(REACHABLE) + 1):
            shown.keyboard.press("Tab")
            reached.add(shown.evaluate(FOCUSED))
        assert len(reached - {None}) >= shown.evaluate(REACHABLE), f"{path.name}: not by keyboard"
