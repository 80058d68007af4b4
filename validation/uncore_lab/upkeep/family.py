"""Fits the numbers of a family to matrices, loads of held lines and bare locks together.

    python -m uncore_lab.upkeep.family FAMILY [--write] [--cores N] [--seeds N]

The numbers that `figures/families.toml` names are changed one at a time, by factors that become
smaller (STEP_FACTORS), as long as the weighted sum of errors decreases (validate/families.py).
After that, `numbers.py` fits the numbers that matrices determine, in the files of all machines.
"""

from __future__ import annotations

import argparse
import sys

from uncore.errors import UncoreError
from uncore_lab.fitting.numbers import scaled
from uncore_lab.upkeep.numbers import put
from uncore_lab.validate.families import (
    MachineFamily,
    Trial,
    evaluate,
    numbers_of,
    present_values,
    read,
)
from uncore_lab.validate.lockhammer import PRIMITIVES

STEP_FACTORS = 1.3, 1.12, 1.05  # each number is multiplied and divided by these, round by round
BETTER_SUM_RATIO = 0.995  # a step is taken only if the sum falls below this share


def solve(family: MachineFamily, cores: int, seeds: tuple[int, ...]) -> Trial:
    """Changes one number at a time; returns the trial with the least sum of errors."""
    nearest = evaluate(family, present_values(family), cores, seeds)
    _show(nearest)
    for step in STEP_FACTORS:
        while (nearer := _improved_trial(family, nearest, step, cores, seeds)) is not nearest:
            nearest = nearer
    return nearest


def _improved_trial(
    family: MachineFamily, nearest: Trial, step: float, cores: int, seeds: tuple[int, ...]
) -> Trial:
    for key in family.numbers:
        for factor in (step, 1 / step):
            changed = nearest.chosen | {key: scaled(nearest.chosen[key], factor)}
            trial = evaluate(family, changed, cores, seeds)
            if trial.sum < BETTER_SUM_RATIO * nearest.sum:
                nearest = trial
                _show(nearest)
                break
    return nearest


def _show(trial: Trial) -> None:
    values = " ".join(f"{key}={value}" for key, value in trial.overrides.items())
    errors = " ".join(f"{kind} {100 * error:.1f}" for kind, error in trial.kind_errors.items())
    print(f"{errors} %: {values}", flush=True)


def _report(trial: Trial) -> None:
    for primitive in PRIMITIVES:
        points_of_lock = [point for point in trial.points if point.spot.primitive == primitive]
        cells = (f"{point.spot.threads}: {point.error:+.0f} %" for point in points_of_lock)
        print(f"  {primitive:16}", "  ".join(cells))


def write(family: MachineFamily, trial: Trial) -> None:
    """Writes each chosen number into the line of the file that states it."""
    numbers = numbers_of(family.machines[0])
    for key, value in trial.chosen.items():
        put((numbers[key].file, numbers[key].line), value)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("family")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--cores", type=int, default=1)
    parser.add_argument("--seeds", type=int, default=2)
    arguments = parser.parse_args()
    try:
        family = read(arguments.family)
        trial = solve(family, arguments.cores, tuple(range(1, arguments.seeds + 1)))
        _report(trial)
        if arguments.write:
            write(family, trial)
    except UncoreError as error:
        sys.exit(f"fit: {error}")


if __name__ == "__main__":
    main()
