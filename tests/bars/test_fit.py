"""Does the fit recover numbers from simulated matrices, and do numbers fitted to pairs on the
home's side predict the other pairs?
"""

from __future__ import annotations

import dataclasses
from math import log
from pathlib import Path
from shutil import copytree

import msgspec
import numpy as np
import pytest

from uncore import topology
from uncore.support.paths import TOPOLOGIES
from uncore_lab.calibrate.order import CoreOrder, find
from uncore_lab.figures import hardware as figures
from uncore_lab.figures.additive_parts import parts_of
from uncore_lab.figures.simulate import handoffs
from uncore_lab.upkeep import numbers, stops


def test_fit_recovers_changed_numbers() -> None:
    right = numbers.prepare("tr1950x", None)
    moved = np.log([0.9, 1.1, 1.15, 0.9]).tolist()
    measured = right.simulated(moved)
    found = numbers.solve([dataclasses.replace(right, measured=measured)])
    assert right.own_steps(found) == pytest.approx(moved, abs=0.02)


@pytest.mark.parametrize("name", ["tr1950x", "epyc7302x2"])
def test_numbers_fitted_on_the_home_side_predict_the_other_side(name: str) -> None:
    """Fits the pairs on the home's side and the class that connects the sides, and compares all
    other pairs.
    """
    off = numbers.errors_of_half_fit_pct(name, None)
    assert off.size > 100
    assert off.mean() < 6


def test_stops_of_renamed_cores_are_found_again() -> None:
    """Cores are renamed at random. The fit must find an order with the same parts; the mirror image
    of an order has the same parts as well.
    """
    hardware, machine = figures.read("r5950x"), topology.load("r5950x")
    ours = handoffs(machine, hardware)
    where = np.random.default_rng(1).permutation(8)  # stop of each core of the renamed machine
    cores = np.concatenate([where, 8 + where])
    harts = (2 * cores[:, None] + [0, 1]).ravel()
    both_ways = np.fmax(ours, ours.T)
    renamed = np.where(np.tri(machine.harts, k=-1), both_ways[np.ix_(harts, harts)], np.nan)
    found = find(machine, renamed)
    assert found
    assert sorted(found.cores) == list(range(8))
    assert where[found.owner] == int(hardware.slice)
    drawn = stops.renumber((TOPOLOGIES / "r5950x.toml").read_text(), found)
    drawn = drawn.partition("map")[2].split('"""')[1]
    again = topology.load("r5950x", [f"ccx.join.map={drawn}"])
    placed = handoffs(again, msgspec.structs.replace(hardware, slice=str(found.owner)))
    ours, theirs = (parts_of(machine, ns)["ccx0"].ns for ns in (placed, renamed))
    assert ours == pytest.approx(theirs, abs=0.05)


def test_only_the_core_numbers_of_a_floorplan_change_if_its_cores_are_renumbered() -> None:
    text = 'map = """\n    u   0+1 b0\n    b0  2   .\n"""\nsize = "2MiB"\n'
    moved = stops.renumber(text, CoreOrder((2, 0, 1), 2, 1.0))
    assert moved == 'map = """\n    u   2+0 b0\n    b0  1   .\n"""\nsize = "2MiB"\n'


def test_fit_changes_a_number_in_proportion_to_the_number_that_it_follows() -> None:
    free_numbers = numbers.prepare("r5950x", None).free_numbers
    assert free_numbers["ccx.join.inject"].followers == (("ccx.join.eject", 1.0),)
    assert free_numbers["ccx.join.inject"].settings(3.0) == [
        "ccx.join.inject=3.000000ns",
        "ccx.join.eject=3.000000ns",
    ]
    free_numbers = numbers.prepare("tr3960x", None).free_numbers
    assert free_numbers["socket.join.dy"].settings(10) == [
        "socket.join.dy=10.000000ns",
        "socket.join.dx=3.540000ns",
    ]


def test_machines_that_share_a_number_get_one_value_for_it() -> None:
    (group,) = numbers.groups(["r2700x"])
    assert group == ["r2700x", "tr1950x"]
    fits = [numbers.prepare(name, None) for name in group]
    shared = set.intersection(*(set(fit.places) for fit in fits))
    right = dict.fromkeys([place for fit in fits for place in fit.places], log(1.1))
    moved = [dataclasses.replace(fit, measured=fit.simulated(fit.own_steps(right))) for fit in fits]
    found = numbers.solve(moved)
    assert len(shared) == 2
    assert found == pytest.approx(right, abs=0.02)


def test_fitted_numbers_and_their_followers_replace_the_old_values(tmp_path: Path) -> None:
    copytree(TOPOLOGIES, tmp_path / "copy")
    file = tmp_path / "copy/r5950x.toml"
    copied = dataclasses.replace(numbers.prepare("r5950x", None), machine=topology.load(file))
    assert all(str(tmp_path) in place[0] for place in copied.places)
    numbers.write(copied, dict.fromkeys(copied.places, log(2)))
    before, after = ({n.key: n for n in topology.load(f).numbers} for f in ("r5950x", file))
    changed = {key for key in before if before[key].text != after[key].text}
    assert changed == {*copied.free_numbers, "ccx.join.eject"}
    inject, eject = (after[f"ccx.join.{way}"].text for way in ("inject", "eject"))
    assert eject == inject and inject.endswith("cy")
    assert float(inject[:-2]) == pytest.approx(
        2 * float(before["ccx.join.inject"].text[:-2]), rel=1e-3
    )
