"""Writes the machine file that results from a calibration.

    machine_file(fitted, matrix, output) -> text of a file that loads

The file extends the calibrated machine, so it does not repeat the machine's structure.  It holds
the numbers that the matrix determined, alone or together with others, each in the unit that the
machine's own file uses, with an interval computed from the residuals of the fit.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from uncore_lab.calibrate.determined import MAX_RELATIVE_DEVIATION, uncertainties
from uncore_lab.calibrate.fit import Fitted
from uncore_lab.fitting.numbers import UNITLESS_NUMBER, scaled
from uncore_lab.fitting.written import FOUR_FIFTHS_DEVIATIONS, entry, extends, tables

MIN_STEP_LOG = 0.02  # a number whose logarithm changed by less is not written

CALIBRATED_HEAD = """\
# Written by `uncore calibrate`: numbers fitted to the handoffs in {matrix}
# ({choice}; classes are {mean:.1f} % off in the mean, {worst:.1f} % at worst).

extends = "{extends}"
name    = "{name}"
"""


def machine_file(fitted: Fitted, matrix: Path, output: Path) -> str:
    problem, choice = fitted.problem, fitted.choice
    errors = [
        100 * abs(simulated_ns / measured_ns - 1)
        for measured_ns, simulated_ns in fitted.classes.values()
    ]
    text = CALIBRATED_HEAD.format(
        matrix=matrix.name,
        choice=choice,
        mean=np.mean(errors),
        worst=np.max(errors),
        extends=extends(problem.name, output),
        name=problem.machine.name,
    )
    deviations, entries = uncertainties(fitted), dict[str, str]()
    for key, (factor, note) in numbers_to_write(fitted).items():
        number = problem.free_numbers[key]
        source = f"fitted: {matrix.name}{note}"
        is_determined, half_interval_factor = (
            deviations[key] <= MAX_RELATIVE_DEVIATION,
            float(np.exp(FOUR_FIFTHS_DEVIATIONS * min(deviations[key], 1))),
        )
        low, value, high = (
            fitted_text(fitted, key, factor * interval_factor)
            for interval_factor in (1 / half_interval_factor, 1, half_interval_factor)
        )
        entries[key] = entry(value, (low, high) if is_determined else None, source)
        leader = number.key.rpartition(".")[2]
        for follower, ratio in number.followers:
            source = f"as {leader}" if ratio == 1 else f"{ratio:g} of {leader}"
            entries[follower] = entry(fitted_text(fitted, follower, factor), None, source)
    for setting in choice.overrides:
        key, _, value_text = setting.partition("=")
        quote = '"""' if "\n" in value_text else '"'
        entries[key] = f"{quote}{value_text}{quote}"
    return f"{text}\n{tables(entries)}"


def numbers_to_write(fitted: Fitted) -> dict[str, tuple[float, str]]:
    """Returns the factor and a note for each number to write: the numbers that the matrix
    determined, and those that changed only in combination with another.
    """
    deviations = uncertainties(fitted)
    return {
        key: (
            float(np.exp(step)),
            "" if deviations[key] <= MAX_RELATIVE_DEVIATION else ", not determined alone",
        )
        for key, step in zip(fitted.problem.free_numbers, fitted.steps, strict=True)
        if deviations[key] <= MAX_RELATIVE_DEVIATION or abs(step) > MIN_STEP_LOG
    }


def fitted_text(fitted: Fitted, key: str, factor: float) -> str:
    """Returns a number of the machine's file times a factor, in the unit of the file; a number that
    the file writes as a sum is given in ns.
    """
    text = next(n.text for n in fitted.problem.machine.numbers if n.key == key)
    written = scaled(text, factor)
    if not written:
        return f'"{fitted.problem.free_numbers[key].value * factor:.4g}ns"'
    return written if UNITLESS_NUMBER.fullmatch(written) else f'"{written}"'
