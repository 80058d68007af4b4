"""Do newly computed results equal those in validation/results?

The quick tests check a few figures of each experiment, the long tests all of them.  `uncore
validate --all --renew` writes figures that changed; the diff of the files shows the effect of a
change of the model.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from tests.bars.test_scaling_curves import GETUID

from uncore.errors import UserError
from uncore_lab.results import table as results
from uncore_lab.results.table import Table, differences, load
from uncore_lab.validate import (
    EXPERIMENTS,
    bar,
    clocks,
    contention,
    curves,
    directory,
    interrupts,
    intervals,
    papers,
    prediction,
    scaling,
    summary,
)
from uncore_lab.validate import lock_curves as locks
from uncore_lab.validate.lockhammer import Spot
from uncore_lab.validate.section import Request


def contended() -> Table:
    measured = contention.read("i76700hq")
    points = [("add", 2), ("cas", 3), ("spin", 4), ("ticket", 2)]
    return contention.table([contention.point("i76700hq", measured, *point) for point in points])


def locked() -> Table:
    spots = [Spot("skylake24", "ticket_spinlock", hold, 0, 8) for hold in (0, 1000)]
    return locks.table(locks.measure([*spots, Spot("naples32", "queued_spinlock", 0, 0, 8)]))


def broadcast() -> Table:
    rows, _ = interrupts.broadcasts(1)
    machine = "x8275clx2"
    return interrupts.table(
        [*rows, *interrupts.latencies(machine, interrupts.figures_by_machine()[machine])]
    )


QUICK_TABLES: dict[str, Callable[[], Table]] = {
    "contention": contended,
    "locks": locked,
    "directory": lambda: directory.table(directory.rows_of("x8180x2")),
    "scaling": lambda: scaling.table(scaling.curves([GETUID])),
    "interrupts": broadcast,
    "prediction": lambda: prediction.table(prediction.left_out("r2700x")[0]),
    "bench": lambda: papers.table(papers.compared("odp-ticket-n1")),
    "clocks": lambda: clocks.run(Request()).tables[0],
}


@pytest.mark.parametrize("name", QUICK_TABLES)
def test_sampled_figures_equal_those_on_file(name: str) -> None:
    assert differences(QUICK_TABLES[name]()) == []


@pytest.mark.long
@pytest.mark.parametrize("name", EXPERIMENTS)
def test_all_figures_equal_those_on_file_and_every_bar_holds(name: str) -> None:
    section = EXPERIMENTS[name](Request(cores=2))
    assert section.exceeded == []
    assert [line for table in section.tables for line in differences(table, whole=True)] == []
    filed = {line["bar"]: line for line in load("bars") if line["experiment"] == name}
    assert filed.keys() == {bar.what for bar, _ in section.bars}
    assert differences(summary.bars([section])) == []


# ---- The files themselves ------------------------------------------------------------------------


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Table:
    monkeypatch.setattr(results, "FOLDER", tmp_path)
    table = Table("mine", ("machine",), [{"machine": "a", "ns": 12.34567, "kind": "fit"}])
    results.save(table)
    return table


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"machine": "a", "ns": 12.346, "kind": "fit"}, ""),
        ({"machine": "a", "ns": 12.36, "kind": "fit"}, "mine.csv: a: ns 12.36, on file 12.346"),
        ({"machine": "a", "ns": 12.346, "kind": "fitted"}, "a: kind fitted, on file fit"),
        ({"machine": "a", "ns": None, "kind": "fit"}, "a: ns empty, on file 12.346"),
        ({"machine": "b", "ns": 12.346, "kind": "fit"}, "b: not on file"),
    ],
)
def test_a_figure_that_changed_is_named_with_both_values(
    mine: Table, row: dict[str, object], message: str
) -> None:
    words = differences(replace(mine, rows=[row]))
    assert message in "; ".join(words) and len(words) == bool(message)


def test_filed_row_that_is_missing_from_a_whole_computed_table_is_named(mine: Table) -> None:
    other = replace(mine, rows=[])
    assert differences(other) == []
    assert differences(other, whole=True) == ["mine.csv: a: no longer computed"]


def test_a_missing_file_of_results_is_named(mine: Table) -> None:
    with pytest.raises(UserError, match=r"other\.csv: cannot be read"):
        differences(replace(mine, name="other"))


def test_every_value_on_file_is_within_the_bound_on_file() -> None:
    for line in load("bars"):
        value, bound = float(line["value"]), float(line["bound"])
        at_least = line["side"] == "at least"
        stated = bar.Bar(line["bar"], bound, float(line["goal"]), line["unit"], at_least)
        assert stated.holds(value), line


def test_rows_on_file_are_drawn_as_curves_beside_measured_curves() -> None:
    (picture,) = curves.pictures("contention", load("contention"), contention.DRAWING)
    assert [panel.title for panel in picture.panels] == contention.machines_with_figures()
    add = {panel.title: panel.series for panel in picture.panels}["i76700hq"]
    assert add["add"][1] == (2, pytest.approx(46.44, rel=0.01))
    assert add["add, measured"][1] == (2, 45.35)


OFF_WITHOUT_A_MARK: set[tuple[str, str, str]] = set()


def test_default_throughput_intervals_contain_the_true_rate_in_88_of_100_cases() -> None:
    """88 of 100 intervals must contain the true rate; the goal is 95."""
    rows = load("intervals")
    assert sum(int(row["inside"]) for row in rows) / len(rows) >= 0.88
    off = [row for row in rows if abs(float(row["off_pct"])) > 15 and not int(row["marked"])]
    found = {(row["machine"], row["workload"], row["threads"]) for row in off}
    assert found == OFF_WITHOUT_A_MARK


@pytest.mark.long
def test_computed_throughput_intervals_equal_those_on_file() -> None:
    pair = ("ccx:2x4", "lock/ticket")
    kept = [r for r in load("intervals") if (r["machine"], r["workload"]) == pair]
    assert [*intervals.table([*intervals.rows(*pair)]).lines.values()] == kept
