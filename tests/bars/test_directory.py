"""Does the home of a line change its latency on exactly the machines where measurements show it?"""

from __future__ import annotations

import pytest

from uncore import topology
from uncore.errors import UserError
from uncore_lab.figures import hardware as figures
from uncore_lab.validate import directory
from uncore_lab.validate.bar import exceeded

MEASURED = figures.machines_with_figures("directory")


def test_errors_of_reading_lines_that_another_core_holds_keep_their_bounds() -> None:
    rows = [row for name in MEASURED for row in directory.rows_of(name)]
    assert exceeded(directory.values(rows)) == []
    assert [what for name in MEASURED for what in directory.homes_broken(name, rows)] == []


def test_dirty_line_homed_at_its_reader_takes_one_directory_lookup_longer() -> None:
    """The latencies of the two homes differ by exactly the lookup time of the directory in memory,
    and are equal if the machine has no such time.
    """
    cases = [directory.CASES[f"dirty_with_{home}"] for home in ("holder", "reader")]
    for lookup in (0, 58):
        machine = topology.load("x8180x2", [f"system.resolver.lookup={lookup}ns"])
        holder, reader = (directory.simulated(machine, case) for case in cases)
        assert reader - holder == pytest.approx(lookup, abs=0.1)


def test_lines_in_memory_are_read_faster_from_the_readers_node_than_from_another_node() -> None:
    machine = topology.load("e52699v3x2")
    here, away = (
        directory.simulated(machine, directory.CASES[f"memory_{w}"]) for w in ("here", "away")
    )
    assert away > here + 30


def test_directory_lookup_time_is_refused_without_a_home_directory() -> None:
    with pytest.raises(UserError, match="only a directory at home stands in memory"):
        topology.load("ring:4", ["system.resolver.lookup=50ns"])
