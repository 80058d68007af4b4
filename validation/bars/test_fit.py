"""Does the fit find numbers that were put in, and do numbers from one side predict the other?"""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from validation import fit


def test_are_numbers_that_were_changed_found_again() -> None:
    right = fit.prepare("tr1950x", None)
    values = [f.value for f in right.free]
    moved = [value * factor for value, factor in zip(values, (0.9, 1.1, 1.15, 0.9), strict=True)]
    measured = right.simulated(moved)
    found = dataclasses.replace(right, measured=measured).solve()
    assert found == pytest.approx(moved, rel=0.02)


@pytest.mark.parametrize("name", ["tr1950x", "epyc7302x2"])
def test_does_the_home_side_predict_the_other_side(name: str) -> None:
    """Fitted on the pairs at the home and the class that leads across; all others are predicted."""
    off = fit.half(name, None)
    assert off.size > 100
    assert off.mean() < 6


def test_is_a_core_found_at_the_stop_where_it_sits() -> None:
    """Cores of a machine renamed at random: each must land where its part is what it adds."""
    known = fit.prepare("r5950x", None)
    values = [f.value for f in known.free]
    machine = known.machine(values)
    ours = known.simulated(values)
    stops = np.random.default_rng(1).permutation(8)  # core k of the renamed machine sits here
    cores = np.concatenate([stops, 8 + stops])
    harts = (2 * cores[:, None] + [0, 1]).ravel()
    both_ways = np.fmax(ours, ours.T)
    renamed = np.where(np.tri(machine.harts, k=-1), both_ways[np.ix_(harts, harts)], np.nan)
    moves = fit.order(dataclasses.replace(known, measured=renamed), values)
    parts = fit.parts_of(machine, ours)
    assert sorted(moves) == sorted(moves.values()) == list(range(8))
    for here, core in moves.items():
        assert parts[here] == pytest.approx(parts[stops[core]], abs=0.05)


def test_does_a_number_that_follows_another_move_with_it() -> None:
    free = {f.key: f for f in fit.prepare("r5950x", None).free}
    assert free["ccx.join.inject"].followers == ("ccx.join.eject",)
    assert free["ccx.join.inject"].settings(3.0) == [
        "ccx.join.inject=3.000000ns",
        "ccx.join.eject=3.000000ns",
    ]
