"""What each measured machine says of its own numbers: the observations that predictions rest on.

    fitted(name) -> {key: ns}        the machine's unknown numbers, from its own figures alone
    measured() -> names              the machines measured well enough
    write(names)                     renews observed.toml
    observations() -> list           what observed.toml holds, with slot, descent and clocks

A family's file has one value for all its members, found on all of them together; who wants to know
how far members differ, and to leave one out, needs each machine's own.  So the numbers are fitted
once more, machine by machine.  A number that its machine's figures do not determine is left out.

The handoff is nearly linear in the latencies of components, so Gauss-Newton on their logarithms
converges in a few turns.  Where figures say nothing a number stays near its file's value (a normal
prior of one e-fold); what that leaves uncertain by more than DETERMINED is not an observation.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import exp, sqrt
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from uncore import topology
from uncore.errors import UserError
from uncore.predict.numbers import RATIO, Free, clocks, free, settings
from uncore.predict.sample import Sample
from uncore.report.progress import progress
from uncore.topology.lineage import Descent
from uncore.validate import hardware as figures
from uncore.validate.hardware import Matrix
from uncore.validate.score import BOUND_QUALITIES

Vector = NDArray[np.float64]

OBSERVED = Path(__file__).with_name("observed.toml")
HEAD = """\
# What each machine's own figures say of its numbers, in ns (ratios: as they are).
# Written by `uncore predict --observe`; change validation/hardware/ or topologies/ instead.
"""

TURNS = 3
STEP = 0.04  # of a value: large against the picosecond a duration is rounded to
ERROR = 0.02  # of a class median, as far as the model's form can reach it
DETERMINED = 0.3  # standard deviation of a logarithm
LEAP = 0.7  # the farthest a turn goes, in logarithms


@dataclass(frozen=True)
class Observation:
    """One number of one measured machine, in every unit the machine has."""

    machine: str
    slot: str
    descent: Descent
    values: Mapping[str, float]


# ---- Fitting one machine -------------------------------------------------------------------------


def fitted(name: str, start: Mapping[str, Free] | None = None) -> dict[str, float]:
    frees = free(name) if start is None else start
    if not frees:
        return {}
    fit = _Fit(name, frees)
    logs, deviations = fit.solve()
    known = zip(frees, logs.tolist(), deviations.tolist(), strict=True)
    return {key: exp(log) for key, log, sd in known if sd < DETERMINED}


class _Fit:
    """Residuals of a machine's pairs in units of ERROR; every class weighs the same."""

    def __init__(self, name: str, frees: Mapping[str, Free]) -> None:
        machine, hardware = topology.load(name), figures.read(name)
        self.name, self.frees = name, frees
        self.sample = Sample.of(machine, hardware)
        self.measured = figures.carried_matrix(hardware, machine)
        self.start: Vector = np.log(np.array([one.value for one in frees.values()]))
        self.weights = np.zeros_like(self.measured)
        played = ~np.isnan(self._simulated(self.start)) & ~np.isnan(self.measured)
        for mask in self.sample.masks.values():
            pairs = mask & played
            self.weights[pairs] = 1 / ERROR / sqrt(max(1, int(np.count_nonzero(pairs))))

    def _simulated(self, logs: Vector) -> Matrix:
        values = dict(zip(self.frees, map(exp, logs.tolist()), strict=True))
        return self.sample.pairs(topology.load(self.name, settings(values, self.frees)))

    def errors(self, logs: Vector) -> Vector:
        seen = self.weights > 0
        off = np.log(self._simulated(logs)[seen] / self.measured[seen])
        weighted: Vector = off * self.weights[seen]
        return weighted

    def solve(self) -> tuple[Vector, Vector]:
        """Logarithms of the values, and their standard deviations."""
        logs, prior = self.start, np.eye(len(self.start))
        for _ in range(TURNS):
            base = self.errors(logs)
            slopes = [(self.errors(logs + STEP * unit) - base) / STEP for unit in prior]
            jacobian = np.array(slopes).T
            normal = jacobian.T @ jacobian + prior
            change = np.linalg.solve(normal, -jacobian.T @ base - (logs - self.start))
            logs = logs + np.clip(change, -LEAP, LEAP)
        return logs, np.sqrt(np.diag(np.linalg.inv(normal)))


# ---- The file ------------------------------------------------------------------------------------


def measured() -> list[str]:
    return [name for name in figures.carried() if figures.read(name).quality in BOUND_QUALITIES]


def write(names: Sequence[str]) -> None:
    """Renews the machines named; the others stay, but for those that are measured no more."""
    known, kept = measured(), _recorded()
    found = {name: values for name, values in kept.items() if name in known}
    with progress(len(names), "observing", "machines") as advance:
        for name in names:
            found[name] = fitted(name)
            advance(1)
    lines = [HEAD]
    for name in sorted(found):
        lines += [f"[{name}]", *(f'"{k}" = {v:.4g}' for k, v in found[name].items()), ""]
    try:
        OBSERVED.write_text("\n".join(lines))
    except OSError as error:
        raise UserError(f"{OBSERVED}: cannot be written: {error.strerror}") from None
    observations.cache_clear()


def _recorded() -> dict[str, dict[str, float]]:
    try:
        return tomllib.loads(OBSERVED.read_text()) if OBSERVED.is_file() else {}
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise UserError(f"{OBSERVED}: no observations: {error}") from None


@cache
def observations() -> list[Observation]:
    found = []
    for name, values in _recorded().items():
        frees, periods = free(name), clocks(name)
        for key in values.keys() & frees.keys():
            one = frees[key]
            units = {RATIO: 1.0} if one.unit == RATIO else periods
            in_units = {unit: values[key] / one.count / period for unit, period in units.items()}
            found.append(Observation(name, one.slot, one.descent, in_units))
    return sorted(found, key=lambda o: (o.slot, o.machine))
