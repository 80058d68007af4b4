"""Does a level have structure exactly if differences between its pairs repeat themselves?"""

from __future__ import annotations

import msgspec
import numpy as np
import pytest

from uncore import topology
from uncore.topology.machine import Machine
from uncore_lab.figures import hardware as figures
from uncore_lab.figures.hardware import Hardware, Matrix
from uncore_lab.validate import repeat
from uncore_lab.validate.score import MATRIX, broken, score

SMT, PLAIN = "r5700x", "ring:16"  # eight cores of two threads; sixteen cores of one thread


def flat(machine: Machine, noise: float, parts: float = 0) -> Matrix:
    """Returns a matrix of 100 ns with normal deviations of `noise` ns for each reading and of
    `parts` ns for each core.
    """
    random = np.random.default_rng(7)
    adds = np.repeat(random.normal(0, parts, machine.cores), machine.threads_per_core)
    ns = 100 + np.add.outer(adds, adds) + random.normal(0, noise, (machine.harts, machine.harts))
    return np.where(np.tri(machine.harts, k=-1), ns, np.nan)


def structured(machine: Machine, ns: Matrix) -> list[str]:
    return [level for level, one in repeat.levels(machine, ns).items() if one.has_structure]


# i54590 has four cores, and so few pairs that sums of parts fit any noise.
@pytest.mark.parametrize("name", [SMT, PLAIN, "i54590"])
def test_matrix_with_no_differences_but_noise_has_no_structure(name: str) -> None:
    machine = topology.load(name)
    assert structured(machine, flat(machine, noise=5)) == []
    assert structured(machine, flat(machine, noise=0)) == []


@pytest.mark.parametrize("name", [SMT, PLAIN])
def test_differences_of_pairs_that_are_sums_of_parts_of_cores_are_structure(name: str) -> None:
    machine = topology.load(name)
    meet = machine.resolvers[0].level
    assert structured(machine, flat(machine, noise=1, parts=5)) == [meet]


def test_differences_of_core_pairs_that_recur_among_sibling_harts_are_structure() -> None:
    machine = topology.load(SMT)
    cores = np.random.default_rng(3).normal(100, 5, (machine.cores, machine.cores))
    ns = np.kron(cores + cores.T, np.ones((2, 2))) + flat(machine, noise=1)
    assert structured(machine, ns) == ["ccx"]


@pytest.mark.parametrize("name", [SMT, PLAIN])
def test_guess_of_a_pair_does_not_use_the_pairs_own_reading(name: str) -> None:
    """One reading differs greatly from the others. Its guess must not be nearer to it than the
    median is.
    """
    machine = topology.load(name)
    ns = flat(machine, noise=0)
    ns[-1, 0] = 1000
    [one] = [one for one in repeat.levels(machine, ns).values() if one.from_median]
    assert one.from_others > one.from_median


def test_pairs_with_structure_need_a_better_prediction_than_the_median_or_a_reason() -> None:
    machine, hardware = topology.load(SMT), figures.read(SMT)
    levels = figures.level_of_pairs(machine)
    ns = flat(machine, noise=0.1, parts=5)
    classes = {
        name: msgspec.structs.replace(one, ns=float(np.median(ns[levels == one.within])))
        for name, one in hardware.classes.items()
    }
    own = msgspec.structs.replace(hardware, classes=classes)
    median = repeat.by_level(machine, ns)

    def verdict_on(guess: Matrix, hardware: Hardware) -> list[str]:
        return broken(score(machine, hardware, ns, guess, MATRIX), hardware)

    assert verdict_on((ns + median) / 2, own) == []
    [sentence] = verdict_on(median, own)
    assert "structure (ccx)" in sentence and "by their level's median" in sentence
    assert verdict_on(median, msgspec.structs.replace(own, unmatched="a reason")) == []
