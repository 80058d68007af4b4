"""Is a matrix read in the order that its rows show, or refused with a row that fits no order?"""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from uncore import topology
from uncore.errors import UserError
from uncore.topology.cpus import hart_of_cpu
from uncore.topology.distance import distance
from uncore.topology.machine import Machine
from uncore_lab.figures.hardware import measured_matrix, numbered

LINUX = "first threads of all cores first"


def ns_of(machine: Machine, a: int, b: int) -> float:
    """Returns the latency of the level that two cores share, with about 3 % of noise."""
    inner = len(machine.levels) - machine.levels.index(distance(machine, a, b))
    return 5.0 * 3**inner * (1 + (a * 7 + b * 7) % 4 / 100)


def written(path: Path, machine: Machine, harts: Sequence[int]) -> Path:
    rows = [",".join(f"{ns_of(machine, a, b):.2f}" for b in harts[:n]) for n, a in enumerate(harts)]
    path.write_text("\n".join(rows) + "\n")
    return path


def test_matrix_in_the_order_of_its_machine_file_is_used_as_it_is(tmp_path: Path) -> None:
    machine = topology.load("r7900x")
    harts = [hart for hart in hart_of_cpu(machine) if hart is not None]
    path = written(tmp_path / "mine.csv", machine, harts)
    assert numbered(path, machine) == ""


def test_adjacent_numbers_of_siblings_are_recognised_if_the_file_states_another_order(
    tmp_path: Path,
) -> None:
    machine = topology.load("r7900x")
    path = written(tmp_path / "mine.csv", machine, range(machine.harts))
    assert "siblings side by side, not as its file says" in numbered(path, machine)
    ns = measured_matrix(path, machine)
    for a, b in np.argwhere(~np.isnan(ns)):
        assert ns[a, b] == pytest.approx(ns_of(machine, a, b), abs=0.006)


def test_first_threads_before_second_are_recognised_if_the_file_states_another_order(
    tmp_path: Path,
) -> None:
    file = tmp_path / "windows.toml"
    file.write_text('extends = "r7900x"\nname = "x"\ncpus = "i"\n')
    machine = topology.load(str(file))
    harts = [2 * (i % 12) + i // 12 for i in range(24)]
    path = written(tmp_path / "mine.csv", machine, harts)
    assert LINUX in numbered(path, machine)


def test_cpu_numbers_that_alternate_between_sockets_are_recognised(tmp_path: Path) -> None:
    machine = topology.load("x6242x2")
    cores = [core // 2 + core % 2 * 16 for core in range(32)]
    harts = [2 * core + thread for thread in range(2) for core in cores]
    path = written(tmp_path / "mine.csv", machine, harts)
    assert f"{LINUX}, sockets in turn" in numbered(path, machine)
    ns = measured_matrix(path, machine)
    assert ns[32, 0] == pytest.approx(ns_of(machine, 32, 0), abs=0.006)


def test_a_matrix_with_distant_siblings_is_refused_with_its_row(tmp_path: Path) -> None:
    machine = topology.load("r7900x")
    harts = list(range(machine.harts))
    random.Random(3).shuffle(harts)
    path = written(tmp_path / "mine.csv", machine, harts)
    with pytest.raises(UserError, match=r"mine.csv:\d+: CPU \d+ is nearest to CPU \d+ \(.* ns\)"):
        measured_matrix(path, machine)
