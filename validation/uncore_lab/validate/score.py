"""Computes the errors of one machine's simulated handoffs, and checks their bounds.

    score(machine, hardware, measured, simulated) -> HandoffScore
    broken(score, hardware) -> messages about errors that exceed their bounds

Errors are relative to the measured figure.  The error of a class compares medians.

    pair_err_const_pct     error of guessing each pair by the measured median of its level (and of
                           its side of the home)
    structure              share of that error which the simulation removes
    slice_r2               share of the measured variance inside one L3 that the simulation explains
                           (1: all of it; 0 or less: none)
    structured             levels whose pairs differ in a way that repeats itself (repeat.py), which
                           can only be known from a matrix
    structured_err_pct     error of the simulation for the pairs of these levels, which must be
                           smaller than the next
    structured_const_pct   error of guessing these pairs by their median
"""

from __future__ import annotations

import msgspec
import numpy as np

from uncore.topology.machine import Machine, Number
from uncore_lab.figures.additive_parts import sliced_level
from uncore_lab.figures.hardware import BOUND_QUALITIES, Hardware, Mask, Matrix, level_of_pairs
from uncore_lab.validate import repeat
from uncore_lab.validate.repeat import mean_error

# bounds on the mean and the largest error, in per cent, on machines of quality A and B
CLASS_MEAN, CLASS_WORST = 4.0, 10.0
# `pairs_from`: the latencies of pairs come from the figures that uncore ships, or from a matrix
SHIPPED_FIGURES, MATRIX = "carried figures", "matrix"
SAME_FIGURE_NS2 = 1e-6  # ns squared; figures with a smaller variance are treated as equal


class HandoffScore(msgspec.Struct, frozen=True):
    machine: str
    quality: str
    classes: int
    free_numbers: int
    class_mean_err_pct: float
    class_worst_err_pct: float
    pair_mean_err_pct: float
    pair_err_const_pct: float
    structure: float | None
    structured: str
    structured_err_pct: float | None
    structured_const_pct: float | None
    slice_r2: float | None
    home: str
    slice: str
    pairs_from: str  # MATRIX or SHIPPED_FIGURES
    order: list[int]  # cores of the first L3, stop by stop; [] if its stops are alike
    medians: dict[str, tuple[float, float]]  # class -> (measured, simulated) in ns


def score(
    machine: Machine, hardware: Hardware, measured: Matrix, simulated: Matrix, pairs_from: str
) -> HandoffScore:
    masks = {
        name: mask & ~np.isnan(measured) for name, mask in hardware.masks(machine).items()
    }  # fmt: skip
    medians = {
        name: (float(np.median(measured[mask])), float(np.median(simulated[mask])))
        for name, mask in masks.items()
    }
    errors = [100 * abs(simulated / measured - 1) for measured, simulated in medians.values()]
    measured_pairs = ~np.isnan(measured)
    median = repeat.by_level(machine, measured)
    pair, const = (mean_error(guess, measured, measured_pairs) for guess in (simulated, median))
    with_structure = _with_structure(machine, measured) if pairs_from == MATRIX else {}
    places = np.any(list(with_structure.values()), axis=0) if with_structure else None
    return HandoffScore(
        machine=machine.id,
        quality=hardware.quality,
        classes=len(medians),
        free_numbers=len(free_number_keys(machine)),
        class_mean_err_pct=round(float(np.mean(errors)), 2),
        class_worst_err_pct=round(max(errors), 2),
        pair_mean_err_pct=round(pair, 2),
        pair_err_const_pct=round(const, 2),
        structure=round(1 - pair / const, 2) if const else None,
        structured=" ".join(with_structure),
        structured_err_pct=_percent(simulated, measured, places),
        structured_const_pct=_percent(median, measured, places),
        slice_r2=_slice_r2(machine, measured, simulated),
        home=hardware.home,
        slice=hardware.slice,
        pairs_from=pairs_from,
        order=_order(machine),
        medians=medians,
    )


def free_number_keys(machine: Machine) -> list[str]:
    """Returns the keys of the numbers that were fitted to this machine, in its own file or in that
    of a family.
    """
    return [n.key for n in machine.numbers if machine.id in fitted_on(n, machine.id)]


def fitted_on(number: Number, own_id: str) -> list[str]:
    """Returns the machines to which a number was fitted, by its source ("fitted" or "fitted on ID
    ID").
    """
    if not number.source.startswith("fitted"):
        return []
    _, on, ids = number.source.partition("fitted on ")
    return ids.split() if on else [own_id]


def _with_structure(machine: Machine, measured: Matrix) -> dict[str, Mask]:
    repeats = repeat.levels(machine, measured)
    return {
        level: repeat_of_level.pairs
        for level, repeat_of_level in reversed(repeats.items())
        if repeat_of_level.has_structure
    }


def _percent(guess: Matrix, truth: Matrix, pairs: Mask | None) -> float | None:
    return None if pairs is None else round(mean_error(guess, truth, pairs), 2)


def _slice_r2(machine: Machine, measured: Matrix, simulated: Matrix) -> float | None:
    pairs = (level_of_pairs(machine) == sliced_level(machine)) & ~np.isnan(measured)
    if np.count_nonzero(pairs) < 3:
        return None
    truth = measured[pairs]
    unexplained = np.sum((truth - simulated[pairs]) ** 2)
    spread = np.sum((truth - truth.mean()) ** 2)
    return (
        round(1 - float(unexplained / spread), 2) if spread > SAME_FIGURE_NS2 * len(truth) else None
    )


def _order(machine: Machine) -> list[int]:
    if not any(key == "order" for key, _ in machine.unknowns):
        return []
    beyond = {link.source: link.target for link in reversed(machine.links)}
    cores = [child for child in machine.resolvers[0].children if child < machine.cores]
    return sorted(cores, key=lambda core: beyond[machine.core_stops[core]])


def broken(score: HandoffScore, hardware: Hardware) -> list[str]:
    """Returns a sentence for each broken bound. Bounds apply to machines of good quality only."""
    if score.quality not in BOUND_QUALITIES:
        return []
    checks = [
        (score.class_mean_err_pct <= CLASS_MEAN,
         f"classes are {score.class_mean_err_pct} % off in the mean, more than {CLASS_MEAN} %"),
        (score.class_worst_err_pct <= CLASS_WORST,
         f"a class is {score.class_worst_err_pct} % off, more than {CLASS_WORST} %"),
        (score.free_numbers <= score.classes,
         f"{score.free_numbers} numbers were fitted to {score.classes} classes"),
        (hardware.structure is None or (score.structure or 0) >= hardware.structure,
         f"structure {score.structure} is less than {hardware.structure}"),
        (hardware.unmatched or not no_better(score), no_better(score)),
    ]  # fmt: skip
    return [message for is_met, message in checks if not is_met]


def no_better(score: HandoffScore) -> str:
    """Returns a sentence if the simulation predicts pairs with structure no better than the median
    of their level does; otherwise "".
    """
    simulation_pct, median_pct = score.structured_err_pct, score.structured_const_pct
    if simulation_pct is None or median_pct is None or simulation_pct < median_pct:
        return ""
    return (
        f"pairs with structure ({score.structured}) are {simulation_pct} % off, by their level's"
        f" median {median_pct} %"
    )
