"""Are the sets of published figures complete, the judges sealed, and the figures compared
correctly?
"""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from matplotlib import pyplot

from uncore.drawing.plot import draw
from uncore.engine import native
from uncore.errors import UserError
from uncore.execution.request import make_job
from uncore.result import Point
from uncore.topology import load
from uncore_lab.figures import BENCH
from uncore_lab.figures import published_sets as sets
from uncore_lab.results.table import load as filed
from uncore_lab.validate import papers
from uncore_lab.validate.section import NoFigures, Request

ELSEWHERE = "mesh:4x2"  # a machine without published figures


@pytest.mark.parametrize("name", sets.names())
def test_a_published_set_loads_and_each_of_its_figures_has_a_job(name: str) -> None:
    published = sets.read(name)
    assert published.source and published.unlike and load(published.simulated).harts
    for curve in published.curves:
        more = {curve.fit: "100ns"} if curve.fit else {}
        jobs = curve.jobs(published.simulated, more)
        assert len(jobs) == len(curve.measured) == len(curve.labels)
        assert [job.threads for job in jobs] == [(curve.threads_of(at),) for at in range(len(jobs))]


@pytest.mark.parametrize("name", sets.sealed().judges)
def test_runs_of_a_judging_set_pass_their_self_checks_on_another_machine(name: str) -> None:
    for curve in sets.read(name).curves:
        own = replace(curve.jobs(sets.read(name).simulated)[-1], seeds=())
        values = dict(own.parameters)
        lasts = {"duration": "5us", "warmup": "1us"}
        short = {key: value for key, value in lasts.items() if key in values}
        job = make_job(ELSEWHERE, own.program, [4], parameters=values | short)
        assert native.run(job, frozenset())["failures"] == []


def test_published_sets_cover_at_least_five_machines_and_two_with_several_sockets() -> None:
    published = [sets.read(name) for name in sets.names()]
    machines = {each.machine: load(each.simulated) for each in published}
    sockets = [machine for machine in machines.values() if "socket" in machine.levels]
    several = [m for m in sockets if len({s[m.levels.index("socket")] for s in m.shape}) > 1]
    assert len(published) >= 10 and len(machines) >= 5 and len(several) >= 2


# ---- The seal ------------------------------------------------------------------------------------


def test_half_of_the_published_sets_are_sealed_as_judges_and_unchanged() -> None:
    seal = sets.sealed()
    assert list(sets.broken(seal)) == []
    assert len(seal.judges) == len(seal.open) == len(sets.names()) / 2


@pytest.fixture
def copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = shutil.copytree(BENCH, tmp_path / "bench")
    monkeypatch.setattr(sets, "BENCH", folder)
    return folder


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("lockref-cascade-lake.toml", "1701072", "1701073"),
        ("machines/i78750h.toml", "4.1GHz", "4.2GHz"),
    ],
)
def test_change_of_a_judging_set_breaks_the_seal(copy: Path, file: str, old: str, new: str) -> None:
    path = copy / file
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    (word,) = sets.broken(sets.sealed())
    assert "changed after 2026-11-26" in word


def test_seal_is_broken_if_an_opened_set_is_not_among_the_judges() -> None:
    seal = sets.sealed()
    name, *others = seal.judges
    fewer = {judge: seal.judges[judge] for judge in others}
    chosen = sets.Seal(seal.date, seal.model, fewer, [*seal.open, name], {name: "2026-11-27"})
    words = "; ".join(sets.broken(chosen))
    assert "every second one" in words and f"{name}: opened, but no judge" in words


def test_judging_set_is_not_simulated_before_it_is_opened(copy: Path) -> None:
    name, seal = "perfbook-8750h", copy / "seal.toml"
    opened = seal.read_text()
    seal.write_text(re.sub(rf'^{name} += "2.*\n', "", opened, flags=re.MULTILINE))
    with pytest.raises(NoFigures, match="a judge that is not opened"):
        papers.compared(name)
    with pytest.raises(NoFigures, match="'i78750h'"):
        papers.run(Request(machines=("i78750h",)))
    seal.write_text(opened)
    assert name in sets.unsealed(sets.sealed())


def test_results_on_file_contain_no_sealed_set() -> None:
    assert {line["set"] for line in filed("bench")} == set(sets.unsealed(sets.sealed()))


# ---- mistakes in a file --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("values   = [[3.5, 4.5], [2.5, 3]]", "values = [4]", "has 1 values; every other list"),
        ('show     = "rate"', 'show = "rates"', r"Invalid enum value 'rates'"),
        ('show     = "rate"', 'show = "time"\nfit = "think"', 'fit needs show = "rate"'),
    ],
)
def test_error_about_an_invalid_published_set_names_its_file_and_the_mistake(
    copy: Path, old: str, new: str, message: str
) -> None:
    path = copy / "odp-ticket-n1.toml"
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(UserError, match=message) as wrong:
        sets.read("odp-ticket-n1")
    assert str(path) in str(wrong.value)


# ---- comparison and output -----------------------------------------------------------------------


def test_range_of_a_published_figure_counts_as_its_middle_and_curves_may_be_relative() -> None:
    (tickets,) = sets.read("odp-ticket-n1").curves
    assert tickets.measured == [4, 2.75]
    readers, *_ = sets.read("false-sharing-i5-6600k").curves
    assert readers.measured[0] == 1
    assert readers.measured[1] == pytest.approx(830.081 / 837)
    assert [readers.kind(0), readers.kind(1)] == ["base", "predicted"]


def test_fitted_think_time_reproduces_the_first_figure_of_a_published_curve() -> None:
    """The rate is made up, because no open set has a fit."""
    curve = sets.PublishedCurve(
        name="fitted",
        unit="",
        show="rate",
        workload="lock/ticket_packed",
        values=[2.0, 3.0],
        set={"duration": "200us", "spin": "time"},
        threads=[1, 2],
        fit="think",
    )
    first, second = papers.figures_of("graviton2", curve)
    assert first[1] == 2.0 and first[2] == pytest.approx(2.0, rel=0.01)
    assert (first[3], second[3]) == ("fit", "predicted")


@pytest.mark.parametrize(
    ("show", "value"),
    [("rate", 30), ("each", 15), ("hart", 20), ("time", 100 / 3), ("own", 200 / 3), ("apart", 2)],
)
def test_each_quantity_of_a_curve_is_computed_in_its_unit(show: Any, value: float) -> None:
    """Two threads: 20 operations in 1 us, and 10 in half of that time."""
    point = SimpleNamespace(
        threads=2,
        ops=30,
        elapsed_ps=1_000_000,
        thread_ops=[20, 10],
        thread_ps=[(0, 1_000_000), (500_000, 1_000_000)],
    )
    curve = sets.PublishedCurve("name", "unit", show, "workload", [1.0])
    assert papers.QUANTITIES[show](cast("Point", point), curve) == pytest.approx(value)


def test_texts_in_the_picture_of_published_sets_lie_inside_it() -> None:
    figures = [
        papers.ComparedFigure(name, "m", "curve", str(at), 1.0, ratio, "predicted", judge=False)
        for name in sets.names()
        for at, ratio in enumerate((0.1, 1.0, 7.0))
    ]
    (panel,) = papers.picture(figures).panels
    figure, axes = pyplot.subplots(figsize=(6.8 + 2.8, 5.2), layout="constrained")
    draw(panel, axes)
    figure.draw_without_rendering()
    drawn = figure.get_tightbbox()
    assert drawn.x0 >= 0 and drawn.y0 >= 0
    assert drawn.x1 <= 6.8 + 2.8 and drawn.y1 <= 5.2
    assert axes.get_yscale() == "log"
    assert not [text for text in axes.get_yticklabels(minor=True) if text.get_text()]
    pyplot.close(figure)
