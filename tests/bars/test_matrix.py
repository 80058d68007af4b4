"""Does `uncore matrix` run the same handoffs as validation, and show measured figures only where
they are comparable?
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import uncore
from uncore import topology
from uncore.errors import UserError
from uncore.study.matrix import Matrix
from uncore_lab.figures import hardware as figures
from uncore_lab.figures.simulate import handoffs
from uncore_lab.validate import handoff
from uncore_lab.validate.section import Request

# a front-side bus, a ring, two sockets with two rings each, two meshes, Zen 1, 3 and 2, Arm, and
# two kinds of cores
KINDS = (
    "core2q9550",
    "i54590",
    "e52695v4x2",
    "x8275clx2",
    "w93475x",
    "tr1950x",
    "r5950x",
    "epyc7302x2",
    "lx2160a",
    "i912900k",
)


@pytest.mark.parametrize("name", KINDS)
def test_matrix_with_option_as_measured_equals_that_of_validation(name: str) -> None:
    machine, hardware = topology.load(name), figures.read(name)
    shown = uncore.matrix(name, smt=False, as_measured=True)
    between = [machine.harts_of(core)[0] for core in range(machine.cores)]
    validated = handoffs(machine, hardware)[np.ix_(between, between)]
    lower = np.tril_indices(len(between), k=-1)
    assert list(shown.harts) == between
    assert np.array(shown.ns)[lower] == pytest.approx(validated[lower], abs=2e-3)


@pytest.mark.parametrize("name", ["i54590", "w93475x"])
def test_spread_over_seeds_is_equal_in_validation_and_matrix(name: str) -> None:
    compared = handoff.compared(name, Request())
    (shown,) = uncore.matrix(name, smt=False, as_measured=True).by_class()
    (validated,) = compared.classes
    assert (
        validated["apart_ns"] == pytest.approx(shown["apart_ns"], abs=0.006) and shown["apart_ns"]
    )
    share = validated["apart_ns"] / validated["simulated_ns"]
    assert compared.row["seeds_pct"] == pytest.approx(50 * share, abs=0.006)


def classes(matrix: Matrix) -> dict[str, dict[str, float | None]]:
    return {row["class"]: row for row in matrix.by_class()}


def test_measured_medians_are_shown_only_if_home_and_slice_of_the_line_agree() -> None:
    """The 2x EPYC 7763 was measured with the line homed near its pair, in a known slice."""
    few = {"sample": 6, "seeds": (1,)}
    elsewhere = uncore.matrix("epyc7763x2", **few)
    alike = uncore.matrix("epyc7763x2", as_measured=True, **few)
    assert not any(row["measured_ns"] for row in elsewhere.by_class())
    real = classes(alike)
    assert all(row["measured_ns"] for row in real.values())
    assert all(0.9 < row["median_ns"] / row["measured_ns"] < 1.1 for row in real.values())
    by_hand = uncore.matrix("epyc7763x2", home="pair", slices="4", **few)
    assert by_hand.by_class() == alike.by_class()


def test_option_as_measured_is_refused_for_a_machine_without_figures() -> None:
    with pytest.raises(UserError, match="--as-measured: nobody here has measured it"):
        uncore.matrix("ccx:1x2", as_measured=True)


def test_matrix_over_seeds_has_the_mean_of_each_pair_and_the_spread_of_each_class() -> None:
    single = [uncore.matrix("core2q9550", seeds=(seed,)) for seed in (1, 2)]
    both = uncore.matrix("core2q9550", seeds=(1, 2))
    means = np.mean([matrix.ns for matrix in single], axis=0)
    assert np.array(both.ns) == pytest.approx(means)
    medians = [classes(matrix)["die"]["median_ns"] for matrix in single]
    assert classes(both)["die"]["apart_ns"] == pytest.approx(abs(medians[0] - medians[1]), abs=0.01)
    assert medians[0] != medians[1]
    assert classes(single[0])["die"]["apart_ns"] is None


@pytest.mark.parametrize("name", ["i76700k", "w2150b", "r7900x"])
def test_moving_the_measured_line_changes_medians_by_less_than_the_reported_spread(
    name: str,
) -> None:
    """Without SMT the program's data, and so the measured line, have other addresses; there is no
    other difference.
    """
    with_smt, without = (uncore.matrix(name, smt=smt).by_class() for smt in (True, False))
    shown = {row["class"]: row for row in with_smt}
    for row in without:
        other = shown[row["class"]]
        spread = max(row["apart_ns"], other["apart_ns"]) / 2
        assert row["median_ns"] == pytest.approx(other["median_ns"], abs=spread), row["class"]


def test_medians_over_all_harts_are_within_the_spread_of_samples() -> None:
    """Pairs of a Naples socket are either near the line's home or far from it, so the median of few
    pairs may be either.
    """
    words: dict[str, Any] = {"smt": False, "seeds": (1,)}
    whole = classes(uncore.matrix("epyc7601x2", **words))
    samples = [classes(uncore.matrix("epyc7601x2", sample=(24, n), **words)) for n in range(5)]
    for sample in samples:
        for name, row in sample.items():
            apart = abs(row["median_ns"] - whole[name]["median_ns"])
            assert apart <= row["apart_ns"] / 2 + 0.01, name
    assert len({sample["die"]["median_ns"] for sample in samples}) > 1
    assert {row["apart_ns"] for row in whole.values()} == {None}
    assert classes(uncore.matrix("core2q9550", sample=4, seeds=(1,)))["die"]["apart_ns"] is None


WITHOUT_CHANCE = {"chance.start": "0ns", "chance.request": "0ns", "chance.hold": 0}


def between_complexes(seed: int | None, slices: str = "hash", **overrides: Any) -> float:
    seeds = () if seed is None else (seed,)
    options = {
        "smt": False,
        "slices": slices,
        "seeds": seeds,
        "overrides": {**WITHOUT_CHANCE, **overrides},
    }
    median = classes(uncore.matrix("r7900x", sample=4, **options))["socket"]["median_ns"]
    assert median
    return round(median, 1)


def test_each_seed_measures_a_line_at_one_of_the_slices() -> None:
    """V10: with a seed the matrix equals the one that `--slices` gives for one of the slices.
    Without a random slice, the line's address selects the slice.
    """
    named = {between_complexes(1, str(number)) for number in range(6)}
    drawn = {between_complexes(seed) for seed in range(1, 10)}
    # A seed draws more than this slice, which moves a median by less than a hit takes.
    assert all(min(abs(one - other) for other in named) < 0.2 for one in drawn)
    assert len(drawn) > 2
    address = between_complexes(None)
    assert {between_complexes(seed, **{"chance.slice": 0}) for seed in (1, 2)} == {address}
    assert address in named


@pytest.mark.parametrize(
    ("machine", "words", "seeds", "rounds"),
    [
        ("i76700k", {}, 9, 33),
        ("i76700k", {"slices": "1"}, 3, None),
        ("i76700k", {"overrides": {"chance.slice": 0}}, 3, None),
        ("bus:3", {}, 3, None),
        ("i76700k", {"seeds": ()}, 0, None),
        ("i76700k", {"seeds": range(5, 11)}, 6, 50),
    ],
)
def test_matrix_with_more_seeds_measures_fewer_round_trips_for_each_seed(
    machine: str, words: dict[str, Any], seeds: int, rounds: int | None
) -> None:
    """A random slice needs more seeds, but no more rounds in total; other matrices keep their
    seeds.
    """
    (result,) = uncore.matrix(machine, sample=2, **words).results
    assert len(result.job.get("seeds", ())) == seeds
    given = dict(result.job["parameters"])
    assert given == ({"rounds": str(rounds)} if rounds else {})
