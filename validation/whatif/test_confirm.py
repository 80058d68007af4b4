"""Is what `uncore whatif` foretells what the change made by hand gives?"""

from __future__ import annotations

from itertools import islice

import pytest
from validation.whatif.confirm import cases, confirmed

CASES = cases()
EXACT = {"lock/tas": 1e-9, "lock/cna": 0.01, "layout/false_sharing": 0.01}  # relative


@pytest.mark.parametrize("name", EXACT)
def test_a_machine_or_a_layout_changed_by_hand_gives_what_was_foretold(name: str) -> None:
    (case,) = [one for one in CASES if one.name == name]
    (row,) = confirmed(case)
    assert row.foretold > 1.2 * row.base
    assert row.by_hand == pytest.approx(row.foretold, rel=EXACT[name])


def test_a_count_apart_gains_more_among_more_threads_as_in_linux() -> None:
    (case,) = [one for one in CASES if one.name == "file_ref.c"]
    gains = [
        (row.foretold / row.base, row.by_hand / row.base) for row in islice(confirmed(case), 3)
    ]
    assert gains == sorted(gains)
    assert min(gains[0]) > 1


def test_twelve_shipped_workloads_are_confirmed() -> None:
    assert len({one.workload for one in CASES if one.workload}) >= 12
