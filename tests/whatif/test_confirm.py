"""Does `uncore whatif` predict the gain of the same change made by hand?"""

from __future__ import annotations

from dataclasses import replace
from itertools import islice

import pytest
from tests.whatif.confirm import Case, cases, confirmed, first

CASES = cases()
EXACT = [  # workload, change, relative difference
    ("lock/tas", "--with core.atomics=far-unless-owned", 1e-9),
    ("layout/false_sharing", "--apart '*limit'", 0.01),
    ("layout/false_sharing", "--apart '*count'", 0.01),
]


def case(name: str) -> Case:
    return next(case_ for case_ in CASES if case_.name == name)


@pytest.mark.parametrize(("name", "change", "off"), EXACT)
def test_machine_or_layout_changed_by_hand_gives_the_predicted_gain(
    name: str, change: str, off: float
) -> None:
    (row,) = confirmed(replace(case(name), change=change))
    columns = row.columns()
    assert columns["foretold"] > 1.1 * columns["base"]
    assert columns["by_hand"] == pytest.approx(columns["foretold"], rel=off)


def test_best_change_against_false_sharing_is_to_separate_the_fields() -> None:
    shared = case("layout/false_sharing")
    assert first(shared).change in shared.edits


def test_a_count_on_its_own_line_gains_more_with_more_threads_as_in_linux() -> None:
    gains = [
        (row["foretold"] / row["base"], row["by_hand"] / row["base"])
        for row in (result.columns() for result in islice(confirmed(case("file_ref.c")), 3))
    ]
    assert gains == sorted(gains)
    assert min(gains[0]) > 1


def test_cases_of_whatif_cover_at_least_twelve_shipped_workloads() -> None:
    assert len({case_.workload for case_ in CASES if case_.workload}) >= 12
