"""Are thread lists, placements and units interpreted as the manual says?"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import uncore.result.describe
from uncore import topology
from uncore.drawing import formats as units
from uncore.execution import request
from uncore.job import option_values as words
from uncore.job.placement import place, thread_counts
from uncore.topology.distance import boundaries, classes, distance


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        ("1", (1,)),
        ("1,2,4..128", (1, 2, 4, 8, 16, 32, 64, 128)),
        ("3..20", (3, 6, 12, 20)),
        ("8..8,max", (8, 96)),
        ("4,4..8", (4, 8)),
    ],
)
def test_thread_option_accepts_counts_doubling_ranges_and_max(text, counts):
    assert thread_counts(text, room=96) == counts


@pytest.mark.parametrize("threads", [4, "4", [4], (4,), "max"])
def test_thread_count_may_be_a_number_a_text_or_a_list(threads):
    assert request.make_job("bus:4", "lock/ticket", threads).threads == (4,)


def test_duration_given_to_an_option_may_have_a_fraction():
    assert words.duration("--watchdog", "1.5ms") == 1_500_000_000
    assert words.duration("--watchdog", "0.25ns") == 250


@pytest.fixture(scope="module")
def smt_machine(tmp_path_factory) -> topology.Machine:
    """Loads a ccx machine with SMT: 2 complexes with 2 cores each, and 2 threads per core."""
    path: Path = tmp_path_factory.mktemp("machines") / "smt.toml"
    path.write_text('extends = "ccx"\nname = "smt"\ntree = "ccx:2 core:2 thread:2"\n')
    return topology.load(path)


@pytest.mark.parametrize(
    ("policy", "smt", "harts"),
    [
        ("compact", True, (0, 2, 4, 6, 1, 3, 5, 7)),
        ("compact", False, (0, 2, 4, 6)),
        ("scatter", True, (0, 4, 2, 6, 1, 5, 3, 7)),
        ("siblings", True, (0, 1, 2, 3, 4, 5, 6, 7)),
        ("5,0-2", True, (5, 0, 1, 2)),
    ],
)
def test_a_thread_runs_on_the_hart_that_the_placement_says(smt_machine, policy, smt, harts):
    assert place(smt_machine, policy, smt) == harts


def test_distance_of_two_harts_is_the_lowest_level_that_contains_both(smt_machine):
    assert [distance(smt_machine, 0, b) for b in (1, 2, 4)] == ["core", "ccx", "system"]
    assert classes(smt_machine) == ["core", "ccx", "system"]
    assert boundaries(smt_machine, range(8)) == {"ccx": [0, 4]}
    assert boundaries(smt_machine, (0, 2, 4, 6)) == {"ccx": [0, 2]}


@pytest.mark.parametrize(
    ("written", "text"),
    [
        (units.rate(12_345_678), "12.3 M/s"),
        (units.rate(999_700), "1.00 M/s"),
        (units.duration(1_250_000), "1.25 us"),
        (units.duration(480), "480 ps"),
        (units.percent(125_000), "12 %"),
        (units.count(None), "-"),
    ],
)
def test_numbers_are_formatted_with_three_digits_and_a_unit(written, text):
    assert written == text


def test_every_field_of_a_result_is_described():
    page = uncore.result.describe.describe()
    fields = [name for part in uncore.result.describe.PARTS for name in part.__struct_fields__]
    assert [
        name for name in fields if not re.search(rf"^\| `{name}` \| `.+` \| \S", page, re.M)
    ] == []
