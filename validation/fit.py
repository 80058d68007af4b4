"""Fits the numbers of a machine file whose source is "fitted" to what was measured on the machine.

    python validation/fit.py MACHINE [--matrices DIR] [--half] [--order]

Prints the new value of each fitted number, and what the machine scores with them; the file is for
the developer to change.  Only numbers that already say "fitted" move, so a machine never gets more
freedom than its file declares.  A number whose source is "as KEY" follows KEY.

    --half     fit on the pairs of the home side and the class across it; predict all the others
    --order    also assign cores to stops: sorted by the part each adds inside the shared cache

The simulated handoff is all but linear in the latencies of components, so Gauss-Newton with finite
differences needs a few runs of the engine.  Every class weighs the same.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from uncore import topology
from uncore.errors import UncoreError
from uncore.topology.machine import Machine, Number
from uncore.validate import hardware as figures
from uncore.validate.hardware import Hardware, Mask, Matrix
from uncore.validate.score import free_numbers, score, shared_cache
from uncore.validate.simulate import handoffs

Values = Sequence[float] | NDArray[np.float64]

TURNS = 3
STEP = 0.03  # of a value: large against the picosecond a duration is rounded to
AMOUNT = re.compile(r"([\d.]+)(.*)")


@dataclass(frozen=True)
class Free:
    """A number that may move, and the keys that follow it."""

    key: str
    value: float
    unit: str
    followers: tuple[str, ...]

    def settings(self, value: float) -> list[str]:
        return [f"{key}={value:.6f}{self.unit}" for key in (self.key, *self.followers)]


def free_of(machine: Machine) -> list[Free]:
    numbers = {number.key: number for number in machine.numbers}
    return [_free(numbers[key], machine.numbers) for key in free_numbers(machine)]


def _free(number: Number, others: Sequence[Number]) -> Free:
    match = AMOUNT.fullmatch(number.text.strip())
    if not match:
        raise UncoreError(
            f"{number.key} = {number.text}: only one amount with one unit can be fitted"
        )
    table, _, name = number.key.rpartition(".")
    followers = tuple(
        n.key for n in others if n.source == f"as {name}" and n.key.startswith(f"{table}.")
    )
    return Free(number.key, float(match[1]), match[2], followers)


@dataclass
class Fit:
    """A machine, what it is fitted to, and the values reached."""

    name: str
    hardware: Hardware
    measured: Matrix
    free: list[Free]
    weights: Matrix  # 0: the pair is not looked at

    def machine(self, values: Values) -> Machine:
        settings = [s for f, v in zip(self.free, values, strict=True) for s in f.settings(v)]
        return topology.load(self.name, settings)

    def simulated(self, values: Values) -> Matrix:
        return handoffs(self.machine(values), self.hardware)

    def errors(self, values: Values) -> NDArray[np.float64]:
        """Of each pair looked at: relative, weighted."""
        seen = self.weights > 0
        off = self.simulated(values)[seen] / self.measured[seen] - 1
        weighted: NDArray[np.float64] = off * self.weights[seen]
        return weighted

    def solve(self) -> list[float]:
        values = np.array([f.value for f in self.free])
        for _ in range(TURNS):
            base, steps = self.errors(values), np.maximum(STEP * values, 0.01)
            slopes = [
                (self.errors(values + step * unit) - base) / step
                for step, unit in zip(steps, np.eye(len(values)), strict=True)
            ]
            change, *_ = np.linalg.lstsq(np.array(slopes).T, -base, rcond=None)
            values = values + np.clip(change, -values / 2, values / 2)  # no leap past the linear
        return [float(value) for value in values]


def weights_of(masks: dict[str, Mask], measured: Matrix, classes: Sequence[str]) -> Matrix:
    weights = np.zeros_like(measured)
    for name in classes:
        pairs = masks[name] & ~np.isnan(measured)
        weights[pairs] = 1 / np.sqrt(np.count_nonzero(pairs))
    return weights


def prepare(name: str, matrices: Path | None, classes: Sequence[str] | None = None) -> Fit:
    machine, hardware = topology.load(name), figures.read(name)
    if matrices:
        measured = figures.measured_matrix(matrices / f"{name}.csv", machine)
    else:
        measured = figures.carried_matrix(hardware, machine)
    masks = hardware.masks(machine)
    weights = weights_of(masks, measured, list(masks) if classes is None else classes)
    return Fit(name, hardware, measured, free_of(machine), weights)


# ---- The half test -------------------------------------------------------------------------------


def half(name: str, matrices: Path | None) -> NDArray[np.float64]:
    """Errors in per cent of the pairs that the fit has not seen."""
    fit = prepare(name, matrices, ())
    machine = topology.load(name)
    masks = fit.hardware.masks(machine)
    seen = _seen(fit.hardware, machine, masks)
    for mask in masks.values():
        pairs = mask & seen & ~np.isnan(fit.measured)
        if pairs.any():
            fit.weights[pairs] = 1 / np.sqrt(np.count_nonzero(pairs))
    simulated = fit.simulated(fit.solve())
    unseen = (fit.weights == 0) & ~np.isnan(fit.measured) & ~np.isnan(simulated)
    off: NDArray[np.float64] = 100 * abs(simulated[unseen] / fit.measured[unseen] - 1)
    return off


def _seen(hardware: Hardware, machine: Machine, masks: dict[str, Mask]) -> Mask:
    """Pairs with both cores at the home's side, and the class that leads across."""
    at_home = hardware.sides(machine)["home"]
    side = machine.levels.index(hardware.side)
    across = machine.levels[side - 1]
    crossing = [mask for name, mask in masks.items() if hardware.classes[name].within == across]
    seen: Mask = np.logical_or.reduce([at_home, *crossing])
    return seen


# ---- Which core sits where -----------------------------------------------------------------------


def order(fit: Fit, values: Values) -> dict[int, int]:
    """Core of the map -> core that should stand there: both sorted by what they add.

    All members of the level have the same floorplan, so their parts are averaged.
    """
    machine = fit.machine(values)
    real, ours = (parts_of(machine, ns) for ns in (fit.measured, fit.simulated(values)))
    return {int(here): int(core) for here, core in zip(ours.argsort(), real.argsort(), strict=True)}


def parts_of(machine: Machine, ns: Matrix) -> NDArray[np.float64]:
    """Least squares of L(i, j) = part(i) + part(j) over the pairs inside one shared cache."""
    pairs = (figures.level_of_pairs(machine) == shared_cache(machine)) & ~np.isnan(ns)
    harts = np.argwhere(pairs)
    rows = np.zeros((len(harts), machine.cores))
    for row, (a, b) in zip(rows, harts // machine.threads_per_core, strict=True):
        row[a] += 1
        row[b] += 1
    parts, *_ = np.linalg.lstsq(rows, ns[pairs], rcond=None)
    members = sum(r.level == shared_cache(machine) for r in machine.resolvers)
    mean: NDArray[np.float64] = parts.reshape(members, -1).mean(axis=0)
    return mean


# ---- The command ---------------------------------------------------------------------------------


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("machine")
    parser.add_argument("--matrices", type=Path)
    parser.add_argument("--half", action="store_true")
    parser.add_argument("--order", action="store_true")
    words = parser.parse_args()
    try:
        if words.half:
            off = half(words.machine, words.matrices)
            print(
                f"{words.machine}: {off.size} pairs that the fit has not seen:"
                f" {off.mean():.2f} % off in the mean, {off.max():.2f} % at worst"
            )
            return
        _report(prepare(words.machine, words.matrices), words.order)
    except UncoreError as error:
        sys.exit(f"fit: {error}")


def _report(fit: Fit, with_order: bool) -> None:
    values = fit.solve()
    for free, value in zip(fit.free, values, strict=True):
        print(f"{free.key:<28} {free.value:g}{free.unit} -> {value:.3f}{free.unit}")
    scored = score(fit.machine(values), fit.hardware, fit.measured, fit.simulated(values), "fit")
    for name, (real, ours) in scored.medians.items():
        off = 100 * (ours / real - 1)
        print(f"{name:<12} measured {real:8.2f}  simulated {ours:8.2f}  {off:+.1f} %")
    print(f"classes {scored.class_mean_err_pct} / {scored.class_worst_err_pct} %, pairs"
          f" {scored.pair_mean_err_pct} % against {scored.pair_err_const_pct} %, structure"
          f" {scored.structure}, slice_r2 {scored.slice_r2}")  # fmt: skip
    if with_order:
        moves = order(fit, values)
        print("core of the map -> core to write there:", moves)


if __name__ == "__main__":
    main()
