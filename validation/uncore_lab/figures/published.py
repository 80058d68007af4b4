"""The column `measured` beside simulated handoffs (`uncore matrix`, `uncore demo`)."""

from __future__ import annotations

import numpy as np

from uncore.study.matrix import MeasuredHandoffs
from uncore.topology.distance import classes
from uncore.topology.machine import Machine
from uncore_lab.figures import hardware


def handoffs(machine: Machine) -> MeasuredHandoffs | None:
    """Returns the median of each distance class on the real machine; None without figures."""
    if machine.id not in hardware.machines_with_figures():
        return None
    read = hardware.read(machine.id)
    ns = hardware.matrix_of_figures(read, machine)
    levels = hardware.level_of_pairs(machine)
    by_class = {name: ns[(levels == name) & ~np.isnan(ns)] for name in classes(machine)}
    medians = {
        name: round(float(np.median(pairs)), 2) for name, pairs in by_class.items() if pairs.size
    }
    return MeasuredHandoffs(medians, read.home, read.slice)
