"""Do the example machine files load and run, and do they state all numbers in few lines?"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from uncore.api import matrix, run
from uncore.support.paths import TOPOLOGIES
from uncore.topology import load
from uncore.topology.fabric import MIN_LINK_PS
from uncore.topology.route import Routes

FILES = sorted((TOPOLOGIES / "examples").glob("*.toml"))
MOST_LINES = 40


@pytest.fixture(params=FILES, ids=lambda path: path.stem)
def file(request: pytest.FixtureRequest) -> Path:
    return Path(request.param)


def test_an_example_is_short_and_every_number_of_it_has_a_source(file: Path) -> None:
    lines = [line for line in file.read_text().splitlines() if line.strip()]
    assert len(lines) < MOST_LINES
    assert lines[0].startswith("# ")
    for number in load(file).numbers:
        assert number.source not in ("", "unstated"), number


def test_handoffs_of_an_example_are_faster_within_a_group_than_between_groups(file: Path) -> None:
    machine = load(file)
    measured = matrix(str(file), sample=8, seeds=[1])
    figures = {
        (a, b): measured.ns[i][j]
        for i, a in enumerate(measured.harts)
        for j, b in enumerate(measured.harts)
        if a != b
    }
    assert figures and all(np.isfinite(ns) and ns > 0 for ns in figures.values())
    depth = next(d for d, of_level in enumerate(zip(*machine.shape, strict=True)) if any(of_level))
    group = {hart: machine.shape[machine.core_of(hart)][depth] for hart in measured.harts}
    near = [ns for (a, b), ns in figures.items() if group[a] == group[b]]
    far = [ns for (a, b), ns in figures.items() if group[a] != group[b]]
    assert not near or np.median(near) < np.median(far)


def test_an_example_runs_a_lock(file: Path) -> None:
    result = run(str(file), "lock/ticket", [8], parameters={"ops": 4}, placement="scatter")
    assert result.points[0].ops == 32 and not result.failed


def hops(name: str) -> list[int]:
    """Returns the number of links between chips on each route, without the links into a router."""
    machine = load(TOPOLOGIES / f"examples/{name}.toml")
    routes, stops = Routes(machine), [memory.stop for memory in machine.memories]
    far = [link.data > MIN_LINK_PS for link in machine.links]
    return [sum(far[n] for n in routes.path(a, b)) for a in stops for b in stops if a != b]


def test_eight_glueless_sockets_are_at_most_three_hops_apart() -> None:
    assert max(hops("glueless8")) == 3


def test_chips_of_the_torus_are_at_most_three_hops_apart() -> None:
    assert max(hops("torus8")) == 3
    assert hops("torus8").count(1) == 8 * 3


def test_last_level_caches_and_kinds_of_cores_of_the_gb10_are_those_of_its_file() -> None:
    machine = load(TOPOLOGIES / "examples/gb10.toml")
    sizes = [r.data_sets * r.data_ways * 64 >> 20 for r in machine.resolvers]
    assert sizes == [8, 16, 16]
    assert machine.core_kinds == (*["a725"] * 5, *["core"] * 5) * 2
