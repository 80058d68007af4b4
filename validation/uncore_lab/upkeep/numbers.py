"""Fits the numbers of machine files whose source is "fitted" to measurements of the machines.

    python -m uncore_lab.upkeep.numbers MACHINE... [--matrices DIR] [--write] [--half]
    python -m uncore_lab.upkeep.numbers --all --matrices DIR --write

Prints the new value of each fitted number, and the scores of the machines with the new values;
`--write` writes the values into the files.  Only numbers whose source allows it are fitted, so a
machine never has more free numbers than its file declares:

    source = "fitted"              in a machine's own file: fitted to this machine
    source = "fitted on ID ID"     in a family's file: fitted to these machines together
    source = "as KEY"              equal to KEY of the same table
    source = "0.35 of KEY"         0.35 times KEY of the same table

    --half     fits only the pairs near the home and those that lead away from it, and predicts
               all other pairs

Every class of every machine has the same weight, and its median weighs more than its pairs.  A
number that several machines share changes by the same factor in all of them.  The solver is
uncore_lab/fitting; stops.py finds the stops of cores.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from uncore import topology
from uncore.errors import UncoreError
from uncore.topology.machine import Machine
from uncore_lab.figures import hardware as figures
from uncore_lab.figures.hardware import Hardware, Mask
from uncore_lab.fitting.numbers import scaled
from uncore_lab.validate.joint import Fit, Place, fitted_text, prepare, scored_with, solve
from uncore_lab.validate.score import fitted_on

LEADING_NUMBER = re.compile(r"[\d.]+")


# ---- The test with half of the pairs -------------------------------------------------------------


def errors_of_half_fit_pct(name: str, matrices: Path | None) -> NDArray[np.float64]:
    """Fits half of the pairs. Returns the errors, in per cent, of the pairs that the fit did not
    use.
    """
    whole_fit = prepare(name, matrices)
    fitted_pairs = _pairs_of_the_fit(whole_fit.hardware, whole_fit.machine, whole_fit.masks)
    masks = {
        label: mask & fitted_pairs
        for label, mask in whole_fit.masks.items()
        if (mask & fitted_pairs).any()
    }
    fit = replace(whole_fit, masks=masks)
    simulated = fit.simulated(fit.own_steps(solve([fit])))
    looked_at = np.any(list(masks.values()), axis=0)
    unseen = ~looked_at & ~np.isnan(fit.measured) & ~np.isnan(simulated)
    errors_pct: NDArray[np.float64] = 100 * abs(simulated[unseen] / fit.measured[unseen] - 1)
    return errors_pct


def _pairs_of_the_fit(hardware: Hardware, machine: Machine, masks: Mapping[str, Mask]) -> Mask:
    """Marks the pairs that the fit uses: those with both cores on the home's side, and those whose
    common level is the next outer one, which connects both sides.
    """
    at_home = hardware.sides(machine)["home"]
    side = machine.levels.index(hardware.at_home[0].rstrip("0123456789"))
    level_across_sides = machine.levels[side - 1]
    crossing = [
        mask for name, mask in masks.items() if hardware.classes[name].within == level_across_sides
    ]
    fitted_pairs: Mask = np.logical_or.reduce([at_home, *crossing])
    return fitted_pairs


# ---- The command ---------------------------------------------------------------------------------


def groups(names: Sequence[str]) -> Iterator[list[str]]:
    """Yields groups of machines that share a fitted number, directly or through other machines."""
    remaining = dict.fromkeys(names)
    while remaining:
        group, waiting = [], [next(iter(remaining))]
        while waiting:
            name = waiting.pop()
            if name not in group:
                group.append(name)
                lists = (fitted_on(number, name) for number in topology.load(name).numbers)
                waiting += [other_id for ids in lists if name in ids for other_id in ids]
        for name in group:
            remaining.pop(name, None)
        yield sorted(group)


def write(fit: Fit, steps: Mapping[Place, float]) -> None:
    """Replaces the old values by the new ones, including those of followers."""
    for (key, fitted), place in zip(fit.free_numbers.items(), fit.places, strict=True):
        new = fitted_text(fit.numbers[key], steps[place])
        put(place, new)
        for follower, ratio in fitted.followers:
            number = fit.numbers[follower]
            put((number.file, number.line), scaled(new, ratio))


def put(place: Place, new_text: str) -> None:
    path, line = Path(place[0]), place[1] - 1
    lines = path.read_text().splitlines(keepends=True)
    head, equals, text = lines[line].partition("=")
    new = LEADING_NUMBER.match(new_text)
    assert new
    lines[line] = head + equals + LEADING_NUMBER.sub(new[0], text, count=1)
    path.write_text("".join(lines))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("machines", nargs="*")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--matrices", type=Path)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--half", action="store_true")
    arguments = parser.parse_args()
    try:
        if arguments.half:
            for name in arguments.machines:
                _report_half(name, errors_of_half_fit_pct(name, arguments.matrices))
            return
        for group in groups(
            arguments.machines or (figures.machines_with_figures() if arguments.all else [])
        ):
            fits = [prepare(name, arguments.matrices) for name in group]
            steps = solve(fits)
            for fit in fits:
                _report(fit, steps)
                if arguments.write:
                    write(fit, steps)
    except UncoreError as error:
        sys.exit(f"fit: {error}")


def _report_half(name: str, errors_pct: NDArray[np.float64]) -> None:
    print(
        f"{name}: {errors_pct.size} pairs that the fit has not seen:"
        f" {errors_pct.mean():.2f} % off in the mean, {errors_pct.max():.2f} % at worst"
    )


def _report(fit: Fit, steps_by_place: Mapping[Place, float]) -> None:
    steps = fit.own_steps(steps_by_place)
    print(fit.name)
    for key, step in zip(fit.free_numbers, steps, strict=True):
        number = fit.numbers[key]
        print(f"    {key:<24} {number.text} -> {fitted_text(number, step)}")
    scored = scored_with(fit, steps)
    for name, (measured, simulated) in scored.medians.items():
        error_pct = 100 * (simulated / measured - 1)
        figures_text = f"measured {measured:8.2f}  simulated {simulated:8.2f}"
        print(f"    {name:<12} {figures_text}  {error_pct:+.1f} %")
    print(f"    classes {scored.class_mean_err_pct} / {scored.class_worst_err_pct} %, pairs"
          f" {scored.pair_mean_err_pct} % against {scored.pair_err_const_pct} %, structure"
          f" {scored.structure}, slice_r2 {scored.slice_r2}", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
