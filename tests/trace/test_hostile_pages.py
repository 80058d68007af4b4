"""Do pages never run scripts that are hidden in the names of a file?

The tests write every kind of page with hostile names and parse it; then a browser opens it.
"""

from __future__ import annotations

import base64
import hashlib
import re
from html import escape
from html.parser import HTMLParser
from pathlib import Path

import msgspec
import pytest
from tests.trace.browser import opened

from uncore import api
from uncore.cli import app
from uncore.drawing import plot, standalone
from uncore.drawing.sections import ReportSection, table, write
from uncore.drawing.table import Column
from uncore.execution.request import make_job
from uncore.result import Result, save
from uncore.result.files import load
from uncore.study import answer_pages
from uncore.study.compare.results import compare as comparing
from uncore.support.paths import CHECKOUT
from uncore.trace import MEASURED, Window, record
from uncore.trace.stepper.data import document as stepper_data
from uncore.trace.stepper.page import empty

HOSTILE = (
    "</title></script><script>owned=1</script><img src=x onerror='owned=1'>"
    '"\'><a href="javascript:owned=1">@BODY@ @DATA@ &lt;b&gt;'
)
DIGEST = re.compile("'sha256-([^']+)'")
WRITERS = ("sim/uncore", "docs/site", "validation")


class Parsed(HTMLParser):
    """The scripts, requests and titles of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.policy, self.title = "", ""
        self.scripts: list[str] = []
        self.handlers: list[str] = []
        self.addresses: list[str] = []
        self.inside = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if given.get("http-equiv") == "Content-Security-Policy":
            self.policy = given["content"] or ""
        self.handlers += [name for name in given if name.startswith("on")]
        self.addresses += [given[key] or "" for key in ("src", "href") if key in given]
        is_data = given.get("type") in ("text/json", "text/plain")
        self.inside = "data" if tag == "script" and is_data else tag
        if self.inside == "script":
            self.scripts.append("")

    def handle_endtag(self, tag: str) -> None:
        self.inside = ""

    def handle_data(self, data: str) -> None:
        if self.inside == "script":
            self.scripts[-1] += data
        if self.inside == "title":
            self.title += data


def digest(script: str) -> str:
    """Returns a script's digest in the form of a content security policy (w3.org/TR/CSP3, 8.4)."""
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def check(path: Path, title: str = "") -> None:
    """Checks that the page has a security policy, only our scripts, and its title as text."""
    parsed = Parsed(path.read_text())
    policy = dict(part.split(" ", 1) for part in parsed.policy.split("; "))
    scripts = policy.pop("script-src", "")
    assert policy == {
        "default-src": "'none'", "style-src": "'unsafe-inline'", "img-src": "data:"
    }  # fmt: skip
    assert [digest(script) for script in parsed.scripts] == DIGEST.findall(scripts)
    assert "unsafe" not in scripts
    assert parsed.handlers == []
    assert [a for a in parsed.addresses if not a.startswith(("#", "data:"))] == []
    assert title in parsed.title
    with opened(path) as page:
        page.wait_for_timeout(100)
        assert page.evaluate("typeof owned") == "undefined"
        assert page.evaluate("document.querySelectorAll('a[href^=javascript]').length") == 0
        assert title in page.title()


PANELS = {
    "bars": plot.bars({HOSTILE: {HOSTILE: 1.0}}, HOSTILE, HOSTILE),
    "curves": plot.curves({HOSTILE: [(1, 2.0), (2, 3.0)]}, HOSTILE, HOSTILE, HOSTILE),
    "grid": plot.grid([[1.0]], [HOSTILE], [HOSTILE], HOSTILE, HOSTILE, HOSTILE, HOSTILE),
    "heat": plot.heat_map([[0, 1.5], [2.5, 0]], {HOSTILE: [0, 1]}, HOSTILE, HOSTILE),
    "scatter": plot.scatter(
        {HOSTILE: [(1, 2)]}, {HOSTILE: [(2, 3)]}, [(3, 4)], HOSTILE, HOSTILE, HOSTILE
    ),
}


@pytest.mark.parametrize("kind", PANELS)
def test_html_picture_escapes_hostile_names(tmp_path, kind):
    path = plot.picture(tmp_path / "p.html", PANELS[kind])
    check(path, HOSTILE)
    with opened(path) as page:
        assert page.evaluate("document.querySelector('h1').textContent") == HOSTILE


@pytest.fixture(scope="module")
def forged(tmp_path_factory) -> list[Path]:
    """Writes two results with hostile names and with matching hashes, as an attacker can do."""
    folder = tmp_path_factory.mktemp("forged")
    paths = []
    for seed in (1, 2):
        made = api.run("bus:2", "lock/ticket", (1, 2), parameters={"ops": 2}, seeds=(seed,))
        text = msgspec.json.encode(made).decode().replace('"lock/ticket"', json_text(HOSTILE))
        text = text.replace('"bus:2"', json_text(HOSTILE))
        result = msgspec.json.decode(text, type=Result)
        whole = msgspec.structs.replace(result, result_hash=result.computed_hash())
        paths.append(folder / f"{seed}.json")
        save(whole, paths[-1])
    return paths


def json_text(text: str) -> str:
    return msgspec.json.encode(text).decode()


def test_labels_passed_to_plotly_contain_no_markup(tmp_path: Path) -> None:
    """The labels contain HTML that plotly would interpret: bold text and links."""
    page = plot.picture(tmp_path / "p.html", plot.bars({"<b>g</b>": {"<i>l</i>": 1.0}}, "t", "y"))
    given = page.read_text().rpartition("Plotly.react")[0].rpartition("function draw")[2]
    assert given.count("<b>") == given.count("<i>") == 0
    assert "&lt;b" in given and "&lt;i" in given


def test_pages_of_forged_results_run_no_script_from_them(tmp_path, monkeypatch, forged):
    monkeypatch.chdir(tmp_path)
    one, other = map(str, forged)
    for name, arguments in {
        "scaling": ["scaling", one, "--plot", "scaling.html"],
        "compare": ["compare", one, other, "--plot", "compare.html"],
    }.items():
        with pytest.raises(SystemExit) as end:
            app.main(arguments)
        assert end.value.code in (0, 1)
        check(Path(f"{name}.html").resolve())
    answer_pages.write_comparison(
        Path("c.html"), comparing(load(forged[0]), load(forged[1])), HOSTILE
    )
    check(Path("c.html").resolve())


def test_cells_of_a_report_are_escaped_text(tmp_path):
    rows = [{"name": HOSTILE, "number": 1}]
    columns = [Column(HOSTILE, "name", about=HOSTILE), Column("number", "number")]
    sections = [ReportSection(HOSTILE, table(rows, columns), about=HOSTILE)]
    write(tmp_path / "t.html", HOSTILE, HOSTILE, sections)
    check(tmp_path / "t.html", HOSTILE)


def test_stepper_with_hostile_names_runs_no_script_from_them(tmp_path):
    """The test replaces all texts of the page's data, and its title, by a hostile name."""
    made = make_job("bus:2", "lock/ticket", 2, parameters={"ops": 2}, seeds=(1,))
    content = stepper_data(record(made, Window(around=MEASURED)), HOSTILE)
    content |= {"title": HOSTILE, "about": HOSTILE}
    content["lines"] = [[line, HOSTILE, *rest] for line, _, *rest in content["lines"]]
    content["sources"] = dict.fromkeys(content["sources"], HOSTILE)
    machine = content["machine"]
    machine["names"] = [HOSTILE for _ in machine["names"]]
    machine["resolvers"] = [[HOSTILE, HOSTILE, *rest] for _, _, *rest in machine["resolvers"]]
    text = standalone.filled(empty(), TITLE=escape(HOSTILE), DATA=standalone.data([content]))
    (tmp_path / "w.html").write_text(text)
    check(tmp_path / "w.html", HOSTILE)


def test_head_of_a_page_is_in_one_file_only():
    """All writers of pages take the head from this file."""
    assert CHECKOUT
    heads = {
        path.relative_to(CHECKOUT).as_posix()
        for folder in WRITERS
        for path in (CHECKOUT / folder).rglob("*")
        if path.suffix in (".py", ".html", ".js") and re.search("<html|<head>", path.read_text())
    }
    assert heads == {"sim/uncore/drawing/standalone.html"}
