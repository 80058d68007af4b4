"""Does `run` accept several machines, workloads and values, and put them into one table, one
result and one picture?
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest
from matplotlib import pyplot
from matplotlib.text import Text

from uncore import api
from uncore.api import sweep
from uncore.drawing.looks import style
from uncore.drawing.panels import Curves, Grid, bars, heat_map
from uncore.drawing.plot import PANEL_SIZE_INCHES, draw, picture
from uncore.drawing.webpage import figure
from uncore.job.option_values import places
from uncore.report.chart import Wanted, panels
from uncore.result import Results, load_all

TOY = ("--engine", "toy", "--threads", "1,2")


def test_run_combines_all_values_of_every_option(uncore):
    machines, workloads = ("ccx:2x2", "bus:4"), ("lock/ticket", "lock/mcs")
    several = ("--home", "node0,interleave", "--place", "compact,scatter", "--set", "hold=0,1us")
    run = uncore("run", *machines, *workloads, *TOY, *several, "--json")
    assert run.status == 0, run.err
    keys = ("machine", "workload", "home", "placement", "set.hold", "threads")
    combinations = {tuple(row[key] for key in keys) for row in json.loads(run.out)}
    assert len(combinations) == 2**6 == len(json.loads(run.out))


def test_each_engine_of_an_axis_has_its_own_seeds(uncore):
    run = uncore("run", "bus:2", "lock/tas", "--engine", "native,toy", "--json")
    rows = {row["engine"]: row for row in json.loads(run.out)}
    assert set(rows) == {"native", "toy"}
    assert rows["native"]["seeds"] == [1, 2, 3]


def test_run_arguments_may_come_in_any_order(uncore):
    arguments = ("lock/mcs", "bus:4", "lock/ticket")
    assert uncore("run", *arguments, *TOY).out == uncore("sweep", *arguments, *TOY).out
    assert "needs a machine" in uncore("run", "lock/mcs", "lock/ticket").err


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("compact", ["compact"]),
        ("compact,scatter", ["compact", "scatter"]),
        ("0-3,8", ["0-3,8"]),
        ("compact,0-3,8,siblings", ["compact", "0-3,8", "siblings"]),
    ],
)
def test_commas_between_harts_do_not_separate_placements(text: str, expected: list[str]) -> None:
    assert places(text) == expected


@pytest.mark.parametrize("name", ["r.json", "r.parquet"])
def test_saved_file_with_several_results_can_be_repeated(uncore, name):
    saved = uncore("run", "bus:4", "lock/ticket", "lock/mcs", *TOY, "--output", name)
    assert saved.status == 0, saved.err
    results = load_all(Path(name))
    assert [result.job["program"]["name"] for result in results] == ["lock/ticket", "lock/mcs"]
    repeated = uncore("run", "--again", name)
    assert repeated.status == 0
    assert repeated.out.count("reproduced bit for bit") == 2
    alone = uncore("scaling", name)
    assert alone.status == 2
    assert "lock/ticket on bus:4; lock/mcs on bus:4" in alone.err


def test_file_with_a_changed_result_is_refused(uncore):
    uncore("run", "bus:4", "lock/ticket", "lock/mcs", *TOY, "--output", "r.json")
    text = Path("r.json").read_text()
    Path("r.json").write_text(text[::-1].replace('001 :"spo"', '101 :"spo"', 1)[::-1])
    assert Path("r.json").read_text() != text
    assert "changed" in uncore("run", "--again", "r.json").err


@pytest.fixture(scope="module")
def swept() -> Results:
    options = {"ops": 20, "hold": ["0ns", "100ns", "1us"]}
    locks = ["lock/tas", "lock/ticket"]
    return sweep("bus:4", locks, "1,2,4", parameters=options, seeds=(1, 2))


def curves(results: Results, **selection: object) -> list[Curves]:
    drawn = panels(results, Wanted(**selection))  # type: ignore[arg-type]
    assert all(isinstance(panel, Curves) for panel in drawn)
    return drawn  # type: ignore[return-value]


def test_labels_of_curves_name_only_the_options_that_differ(swept: Results) -> None:
    (panel,) = curves(swept)
    assert set(panel.series) == {
        f"{lock}, hold {hold}"
        for lock in ("lock/tas", "lock/ticket")
        for hold in ("0ns", "100ns", "1us")
    }
    assert panel.title == "bus:4"


def test_x_axis_has_the_unit_of_its_option(swept: Results) -> None:
    (panel,) = curves(swept, x="hold")
    assert panel.x == "hold, ns"
    assert panel.ticks == [0, 100, 1000]
    assert "lock/tas, threads 4" in panel.series


def test_x_axis_is_the_varied_option_if_there_is_one_thread_count() -> None:
    results = sweep("bus:2", "lock/tas", 2, hold=["10ns", "20ns"], ops=10, seeds=(1,))
    (panel,) = curves(results)
    assert (panel.x, panel.title) == ("hold, ns", "lock/tas on bus:2, 2 threads")


def test_values_that_are_no_numbers_are_categories_of_the_x_axis() -> None:
    policies = ["compact", "scatter"]
    results = sweep("ccx:2x2", "lock/tas", 2, placement=policies, ops=10, seeds=(1,))
    (panel,) = curves(results, x="place")
    assert (panel.words, panel.ticks) == (policies, [0, 1])


def test_facet_gives_each_value_its_own_panel_with_the_same_colours(swept: Results) -> None:
    drawn = curves(swept, facet="hold", y=("throughput", "p99"))
    assert [panel.title for panel in drawn[:3]] == [
        f"bus:4, hold {v}" for v in ("0ns", "100ns", "1us")
    ]
    assert [panel.y for panel in drawn[::3]] == [
        "million operations per second",
        "latency of 99 % of operations at most, us",
    ]
    assert len({panel.style("lock/ticket") for panel in drawn}) == 1


def test_band_around_a_curve_spans_the_repeated_runs(swept: Results) -> None:
    (panel,) = curves(swept, y=("p99",))
    for points in panel.series.values():
        assert all(low <= y <= high for _, y, low, high in points)
    assert any(low < high for points in panel.series.values() for _, _, low, high in points)


def test_heat_map_has_a_value_for_each_pair_of_settings(swept: Results) -> None:
    drawn = panels(swept, Wanted(heat=("hold", "threads")))
    assert [panel.title for panel in drawn] == ["bus:4, lock/tas", "bus:4, lock/ticket"]
    for panel in drawn:
        assert isinstance(panel, Grid)
        assert (panel.xs, panel.ys) == (["0ns", "100ns", "1us"], ["1", "2", "4"])
        assert all(value is not None for row in panel.values for value in row)
        assert panel.values[0][0] > panel.values[0][2]  # a longer hold is slower
        assert panel.span == drawn[0].span  # type: ignore[union-attr]


def test_knee_is_the_least_thread_count_near_the_best_rate() -> None:
    result = api.run("bus:8", "counter/contended", [1, 2, 4, 8], ops=50, seeds=())
    rates = {p.threads: p.ops / p.elapsed_ps for p in result.points}
    knee = min(n for n, rate in rates.items() if rate >= 0.9 * max(rates.values()))
    (panel,) = curves(Results([result]))
    marked = [int(point[0]) for point in panel.knees.values()]
    assert marked == ([knee] if knee not in (1, 8) else [])


def test_sixty_four_curves_have_different_styles() -> None:
    assert len({style(number) for number in range(64)}) == 64


def rising(count: int) -> Curves:
    labels = [f"lock/of_a_long_name_{number}, hold {number}us" for number in range(count)]
    series = {n: [(x, x + i / 50, x, x + 1) for x in (1, 2, 4)] for i, n in enumerate(labels)}
    return Curves(series, "bus:4", "threads", "M/s")


@pytest.mark.filterwarnings("error")
def test_labels_at_the_ends_of_ten_curves_do_not_overlap(tmp_path: Path) -> None:
    """The lines end so close together that their labels need five times the space between them."""
    drawn = picture(tmp_path / "p.svg", rising(10)).read_text()
    assert [drawn.count(f"_name_{number}, hold") for number in range(10)] == [1] * 10
    figure, axes = pyplot.subplots(figsize=PANEL_SIZE_INCHES)
    draw(rising(10), axes)
    figure.canvas.draw()
    label_boxes = [
        Text.get_window_extent(label) for label in axes.texts
    ]  # the text without its leader line
    pyplot.close(figure)
    assert len(label_boxes) == 10
    assert all(
        below.y1 <= above.y0 for below, above in pairwise(sorted(label_boxes, key=lambda b: b.y0))
    )
    assert all(box.x0 > axes.get_window_extent().x1 for box in label_boxes)


@pytest.mark.filterwarnings("error")
def test_more_than_ten_curves_get_one_panel_each_on_the_same_scale(tmp_path: Path) -> None:
    drawn = picture(tmp_path / "p.svg", rising(28)).read_text()
    assert [drawn.count(f"_name_{number}, hold") for number in range(28)] == [1] * 28
    assert drawn.count("bus:4") == 1
    alone = rising(28).multiples()
    assert len({(panel.heights, *panel.ticks) for panel in alone}) == 1
    assert [set(panel.series) for panel in alone] == [{name} for name in rising(28).series]
    assert rising(10).multiples() == [rising(10)]


@pytest.mark.parametrize("ending", ["svg", "png", "html"])
@pytest.mark.parametrize("selection", [{}, {"heat": ("hold", "threads")}, {"facet": "hold"}])
def test_every_kind_of_picture_is_drawn(
    swept: Results, tmp_path: Path, ending: str, selection: dict[str, Sequence[str]]
) -> None:
    if ending == "html":
        pytest.importorskip("plotly")
    path = picture(tmp_path / f"p.{ending}", *panels(swept, Wanted(**selection)))  # type: ignore[arg-type]
    assert path.stat().st_size > 10_000


def test_picture_drawn_twice_has_the_same_bytes(swept: Results, tmp_path: Path) -> None:
    for ending in ("svg", "pdf"):
        first, repeated = (picture(tmp_path / f"{n}.{ending}", *panels(swept)) for n in "ab")
        assert first.read_bytes() == repeated.read_bytes()


def test_panels_of_a_facet_share_one_scale(swept: Results) -> None:
    drawn = panels(swept, Wanted(y=("throughput", "p99"), facet="hold"))
    for name in ("million operations per second", "latency of 99 % of operations at most, us"):
        same = [panel for panel in drawn if isinstance(panel, Curves) and panel.y == name]
        assert len(same) > 1
        assert len({(panel.heights, panel.log_y) for panel in same}) == 1


@pytest.mark.parametrize("ending", ["svg", "html"])
def test_horizontal_bars_with_long_names_do_not_overlap(tmp_path: Path, ending: str) -> None:
    names = [f"socket{n}.join.latency" for n in range(9)]
    effects = {name: {"-20 %": 5.0, "+20 %": -4.0} for name in names}
    drawn = picture(tmp_path / f"p.{ending}", bars(effects, "t", "%", horizontal=True)).read_text()
    assert all(name in drawn for name in names)
    if ending == "svg":
        assert len(set(re.findall(r' y="([\d.]+)"[^>]*>socket', drawn))) == len(names)


def test_web_page_of_a_matrix_is_square_and_marks_the_groups_of_harts() -> None:
    harts = [[float(a + b) for a in range(4)] for b in range(4)]
    _, layout = figure(heat_map(harts, {"ccx": [0, 2]}, "t", "ns"))
    assert {(shape["x0"], shape["y0"]) for shape in layout["shapes"]} == {(1.5, -0.5), (-0.5, 1.5)}
    assert layout["xaxis"]["constrain"] == layout["yaxis"]["constrain"] == "domain"


def test_web_page_of_a_picture_is_self_contained(swept: Results, tmp_path: Path) -> None:
    pytest.importorskip("plotly")
    page = picture(tmp_path / "p.html", *panels(swept, Wanted(y=("throughput", "p99")))).read_text()
    assert re.findall(r'<(?:script|link)[^>]+(?:src|href)="[^"]*', page) == []
    assert "hold 100ns" in page
    assert page.count('class="plot"') == 2
    assert '"modeBarButtonsToRemove":["sendChartToCloud"]' in page


def test_load_all_reads_the_results_of_a_run(uncore):
    import uncore as library

    uncore("run", "bus:4", "lock/ticket", "lock/mcs", *TOY, "--output", "r.json")
    results = library.load_all("r.json")
    assert [row["workload"] for row in results.to_rows()][::2] == ["lock/ticket", "lock/mcs"]
