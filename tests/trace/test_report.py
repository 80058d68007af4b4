"""Is a report a single page that has all parts of a result and requests nothing?"""

import html
import re

import pytest
from tests.trace.browser import faults, opened
from tests.trace.test_trace import job

from uncore.drawing.plot import heat_map
from uncore.drawing.sections import prose
from uncore.drawing.table import Column
from uncore.execution.execute import execute
from uncore.execution.request import make_job
from uncore.report import document
from uncore.study import answer_pages
from uncore.study.compare import results as comparing
from uncore.study.explore import explore
from uncore.study.explore import report as shown
from uncore.study.explore.plan import ExplorationPlan
from uncore_lab.validate import report
from uncore_lab.validate.section import ReportPicture, Section

HEADS = (
    "What came of it", "Where lines came from", "The machine, and traffic",
    "What an operation's time is made of", "By source line", "Who took lines from whom",
    "Protocol cells met", "Numbers of the machine", "How to repeat it",
)  # fmt: skip


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "r.html"
    made = make_job("ccx:2x4", "lock/ticket", (1, 4), parameters={"ops": 4}, seeds=(1, 2))
    results = execute([made])
    document.write_run(path, results, [made], "uncore run <ccx:2x4>")
    return path, results[0]


def test_report_of_a_run_has_every_section(page):
    text = page[0].read_text()
    assert re.findall("<h2>(.*?)</h2>", text) == [h.replace("'", "&#x27;") for h in HEADS]
    assert len(text.encode()) < 5_000_000
    assert "uncore run &lt;ccx:2x4&gt;" in text
    assert page[1].result_hash[:16] in text


def test_waits_of_source_lines_in_a_report_add_up_to_the_total(page):
    """The page lists nearly all waiting; it omits source lines with very short waits."""
    path, result = page
    from uncore.execution.rerun import observe
    from uncore.result import repeats

    point = repeats(result)[-1].median
    observed = observe(result, point.threads, point.seed)
    inside = sum(u.waited_ps for line in observed.lines for u in line.uses if u.kind > -2)
    tables = re.findall('<table class="source">.*?</table>', path.read_text(), re.S)
    row = r"<td>([\d.]+)</td><td>([\d.]+)</td><td>[\d.]+</td><td>\d+</td>"
    rows = [cells for table in tables for cells in re.findall(row, table)]
    waited = sum(float(row[1]) for row in rows) * point.ops * 1000
    assert waited == pytest.approx(inside, rel=0.05)


def test_report_passes_axe_and_loads_nothing_from_the_network(page):
    with opened(page[0]) as shown:
        assert shown.locator("svg").count() >= 3
        assert faults(shown) == []


def test_letters_of_curves_are_legible_on_a_phone(page):
    with opened(page[0], width=390) as shown:
        curves = shown.locator("section").first.locator(".drawn")
        assert curves.count() == 2  # two pictures, one below the other
        heights = curves.locator("text").evaluate_all(
            "texts => texts.map(text => [text.getBBox().height, text.getScreenCTM()])"
            ".map(([high, { a, b }]) => high * Math.hypot(a, b))"
        )
        assert min(heights) > 8


def test_reports_of_comparisons_and_what_ifs_are_pages(tmp_path):
    ticket, mcs = job(workload="lock/ticket", threads=2), job(workload="lock/mcs", threads=2)
    comparison = comparing.compare(*execute([ticket, mcs]))
    answer_pages.write_comparison(tmp_path / "c.html", comparison, "uncore compare")
    assert "<h2>Both, and their ratio</h2>" in (tmp_path / "c.html").read_text()


EXPLORED = """
machine = "ccx:{4/cores}x{cores}"
threads = 4
repeat = 1
maximise = ["mcs.throughput"]
minimise = ["ccx"]
[choices]
cores = [1, 2, 4]
[runs]
mcs = { workload = "lock/mcs", set = { ops = "4" } }
"""


def test_report_of_an_exploration_has_the_front_and_its_runs(tmp_path):
    (tmp_path / "e.toml").write_text(EXPLORED)
    exploration = explore(ExplorationPlan.read(tmp_path / "e.toml"))
    answer_pages.write_exploration(tmp_path / "e.html", exploration, "uncore explore <e.toml>")
    text = (tmp_path / "e.html").read_text()
    assert all(arguments in html.unescape(text) for _, arguments in shown.commands(exploration))
    assert "3 designs tried" in text and "&lt;e.toml&gt;" in text and "<svg" in text


def test_report_of_a_validation_lists_broken_bounds(tmp_path):
    column = Column("machine", "machine", left=True)
    rows = [{"machine": "<bus>"}]
    section = Section("x", "Locks", "How near.", [column], rows, broken=["bus: 30 %"], notes=["n"])
    report.write(tmp_path / "v.html", [section], "uncore validate")
    text = (tmp_path / "v.html").read_text()
    assert "&lt;bus&gt;" in text and "Past its bound: bus: 30 %" in text


def test_heat_map_of_a_report_is_shown(tmp_path):
    drawn = ReportPicture("x", "x", [heat_map([[0, 1], [1, 0]], {}, "x", "ns")])
    section = Section("x", "Handoffs", "How near.", [], [], pictures=[drawn])
    report.write(tmp_path / "v.html", [section], "uncore validate")
    with opened(tmp_path / "v.html") as shown:  # a violation of the policy would be a complaint
        assert shown.locator("figure image").count() > 0


def test_markdown_of_prose_becomes_html():
    text = prose("`inside`: within, see [prediction.md](prediction.md) & `a<b`")
    assert text == "<code>inside</code>: within, see prediction.md &amp; <code>a&lt;b</code>"
