"""The report that `uncore calibrate` prints."""

from __future__ import annotations

import numpy as np

from uncore.drawing.table import Column, emit, say
from uncore_lab.calibrate.determined import (
    MAX_RELATIVE_DEVIATION,
    doubtful,
    uncertainties,
    undetermined,
)
from uncore_lab.calibrate.fit import Fitted
from uncore_lab.calibrate.write import fitted_text

# if at least this many choices fit equally well, they are counted instead of listed
MIN_COUNTED_CHOICES = 4


def show(fitted: Fitted) -> None:
    _print_numbers(fitted)
    _print_classes(fitted)
    say(f"chosen, because it was not recorded: {fitted.choice}")
    if fitted.alike:
        homes = sorted({choice.home for choice in fitted.alike})
        if len(fitted.alike) < MIN_COUNTED_CHOICES:
            say(f"the classes fit as well with another choice: {'; '.join(map(str, fitted.alike))}")
        else:
            alike_note = f"{len(fitted.alike)} other choices fit the classes as well"
            say(f"{alike_note}, homes {', '.join(homes)}")
    for sentence in (*undetermined(fitted), *doubtful(fitted)):
        say(sentence)


def _print_numbers(fitted: Fitted) -> None:
    deviations, free_numbers = uncertainties(fitted), fitted.problem.free_numbers
    factors = np.exp(fitted.steps).tolist()
    rows = [
        {"number": key, "before": fitted_text(fitted, key, 1).strip('"')}
        | {"fitted": fitted_text(fitted, key, factor).strip('"'), "unsure": deviations[key]}
        for key, factor in zip(free_numbers, factors, strict=True)
    ]
    columns = [
        Column("number", "number", left=True),
        Column("before", "before"),
        Column("fitted", "fitted"),
        Column(
            "+-",
            "unsure",
            lambda v: f"{100 * v:.1f} %" if v <= MAX_RELATIVE_DEVIATION else "not alone",
        ),
    ]
    emit(rows, False, columns, f"{fitted.problem.machine.name}: numbers fitted to the matrix")


def _print_classes(fitted: Fitted) -> None:
    mean_error = np.nanmean(abs(fitted.simulated / fitted.problem.measured - 1))
    rows = [
        {
            "class": name,
            "measured": measured_ns,
            "simulated": simulated_ns,
            "off": simulated_ns / measured_ns - 1,
        }
        for name, (measured_ns, simulated_ns) in fitted.classes.items()
    ]
    columns = [
        Column("class", "class", left=True),
        Column("measured ns", "measured", "{:.2f}".format),
        Column("simulated ns", "simulated", "{:.2f}".format),
        Column("off", "off", lambda v: f"{100 * v:+.1f} %"),
    ]
    title = f"medians of classes; pairs are {100 * mean_error:.1f} % off in the mean"
    emit(rows, False, columns, title)
