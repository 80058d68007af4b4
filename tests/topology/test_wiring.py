"""Do the number, length and bisection of a machine's links follow from its shape?"""

from __future__ import annotations

import pytest

from uncore.support.paths import TOPOLOGIES
from uncore.topology import load
from uncore.topology.layout import tiles
from uncore.topology.wiring import bisection, formula_values, wires

RINGS = str(TOPOLOGIES / "examples/ring-of-rings.toml")


@pytest.mark.parametrize(
    ("machine", "links", "width", "length"),
    [
        (
            "mesh:4x3",
            2 * (3 * 3 + 4 * 2),
            64,
            34,
        ),  # 32 B a cycle of 2 GHz, and a tile from stop to stop
        ("ring:8", 2 * 8, 96, 16),
        # the ports of four cores and of memory; the floorplan is three tiles wide and two high
        ("bus:4", 1, 16, 5),
        # a complex has four by two tiles, so the centres of complexes are three tiles away
        ("ccx:4x8", 2 * 4, 32, 24),
    ],
)
def test_links_of_the_outermost_level_are_those_of_its_shape(machine, links, width, length):
    row = wires(load(machine))[0]
    assert (row.level, row.links, row.width, row.length) == ("system", links, width, length)
    assert row.wire == width * length


@pytest.mark.parametrize(
    ("machine", "across"),
    [
        ("mesh:4x6", 4 * 64),  # the shorter side
        ("ring:8", 2 * 96),
        ("bus:4", 16),
        ("ccx:4x8", 2 * 32),  # two complexes are connected to the others by their own links
        # the outer ring is cut at two links; the links of the inner rings are not cut
        (RINGS, 2 * 192),
        ("x6130x2", 20.8),
    ],
)
def test_bisection_is_the_bandwidth_of_the_narrowest_cut_into_halves(machine, across):
    assert bisection(load(machine)) == across


def test_links_without_a_width_have_no_bandwidth_limit_and_no_wires():
    free = load("ring:8")
    assert [row.wire is None for row in wires(free)] == [False, True]
    assert formula_values(free)["links"] == 16
    (narrow,) = wires(load("ring:8", ["system.join.attach_width=8B/1ns"]))[1:]
    assert (narrow.links, narrow.width) == (16, 8)


@pytest.mark.parametrize("machine", ["mesh:4x4", "ccx:4x8", RINGS])
def test_wires_and_bisection_are_proportional_to_the_width_of_links(machine):
    before = load(machine)
    widths = {n.key: n.text.split("B/") for n in before.numbers if n.key.endswith("join.width")}
    twice = [f"{key}={2 * int(size)}B/{time}" for key, (size, time) in widths.items()]
    one, two = formula_values(before), formula_values(load(machine, twice))
    for name in ("wire", "bisection"):
        assert two[name] == pytest.approx(2 * one[name], rel=0.005)  # a line's time is whole ps
    assert (two["links"], two["length"]) == (one["links"], one["length"])


@pytest.mark.parametrize("name", ["bus:40", "ring:9", "mesh:16x8", "ccx:32x8", "epyc7601x2"])
def test_each_core_of_a_floorplan_has_its_own_tile(name):
    machine = load(name)
    box = tiles(machine)
    seats = {box.points[machine.stops[stop]] for stop in machine.core_stops}
    assert len(seats) == len(set(machine.core_stops)) <= box.width * box.height
    assert all(0 <= x <= box.width and 0 <= y <= box.height for x, y in box.points.values())
