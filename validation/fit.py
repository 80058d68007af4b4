"""Fits the numbers of machine files whose source is "fitted" to what was measured on the machines.

    python -m validation.fit MACHINE... [--matrices DIR] [--write] [--half]
    python -m validation.fit --all --matrices DIR --write

Prints the new value of each fitted number and what the machines score with them; `--write` puts the
values into the files.  Only numbers that already say so move, so a machine never gets more freedom
than its file declares:

    source = "fitted"              in a machine's own file: on this machine
    source = "fitted on ID ID"     in a family: on these machines, together
    source = "as KEY"              follows KEY of the same table;  "0.35 of KEY" at this ratio

    --half     fit on the pairs of the home side and the class across it; predict all the others

The simulated handoff is all but linear in the latencies of components, so Gauss-Newton with finite
differences needs a few runs of the engine.  Every class of every machine weighs the same: first
its median, which outliers of a measurement do not move, then its pairs, which know the structure.
Which core sits where is validation/order.py.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from uncore import topology
from uncore.errors import UncoreError
from uncore.topology.follow import followers
from uncore.topology.machine import Machine, Number
from uncore.validate import hardware as figures
from uncore.validate.hardware import Hardware, Mask, Matrix
from uncore.validate.score import fitted_on, free_numbers, score
from uncore.validate.simulate import handoffs

Values = Sequence[float] | NDArray[np.float64]
Place = tuple[str, int]  # file and line of a number

TURNS = 3
STEP = 0.03  # of a value: large against the picosecond a duration is rounded to
PAIRS = 0.3  # weight of a class's pairs beside its median
ROUNDS = 25  # of a pair: enough, because a handoff repeats itself
DIGITS = 4  # of a value that is written
AMOUNT = re.compile(r"([\d.]+)(.*)")


@dataclass(frozen=True)
class Free:
    """A number that may move, and the keys that follow it, each at a ratio."""

    key: str
    value: float
    unit: str
    followers: tuple[tuple[str, float], ...]
    places: tuple[tuple[Place, float], ...]  # its own first: what stands in the files

    @property
    def place(self) -> Place:
        return self.places[0][0]

    def settings(self, value: float) -> list[str]:
        moved = ((self.key, 1.0), *self.followers)
        return [f"{key}={ratio * value:.6f}{self.unit}" for key, ratio in moved]


def free_of(machine: Machine) -> list[Free]:
    numbers = {number.key: number for number in machine.numbers}
    return [_free(numbers[key], machine.numbers) for key in free_numbers(machine)]


def _free(number: Number, others: Sequence[Number]) -> Free:
    match = AMOUNT.fullmatch(number.text.strip())
    if not match:
        raise UncoreError(
            f"{number.key} = {number.text}: only one amount with one unit can be fitted"
        )
    follow = followers(number, others)
    places = [((n.file, n.line), ratio) for n, ratio in [(number, 1.0), *follow]]
    keys = tuple((n.key, ratio) for n, ratio in follow)
    return Free(number.key, float(match[1]), match[2], keys, tuple(places))


@dataclass
class Fit:
    """One machine, and what it is fitted to."""

    name: str
    hardware: Hardware
    measured: Matrix
    free: list[Free]
    weights: Matrix  # 0: the pair is not looked at

    def machine(self, values: Values) -> Machine:
        settings = [s for f, v in zip(self.free, values, strict=True) for s in f.settings(v)]
        return topology.load(self.name, settings)

    def simulated(self, values: Values) -> Matrix:
        return handoffs(self.machine(values), self.hardware, rounds=ROUNDS)

    def errors(self, values: Values) -> NDArray[np.float64]:
        """Relative: of each class looked at by its median, and of its pairs, weighted."""
        simulated, seen = self.simulated(values), self.weights > 0
        pairs = (simulated[seen] / self.measured[seen] - 1) * self.weights[seen]
        classes = [
            np.median(simulated[mask & seen]) / np.median(self.measured[mask & seen]) - 1
            for mask in self.hardware.masks(topology.load(self.name)).values()
            if (mask & seen).any()
        ]
        return np.concatenate([classes, PAIRS * pairs])

    def solve(self) -> list[float]:
        found = solve([self])
        return [found[free.place] for free in self.free]


def solve(fits: Sequence[Fit]) -> dict[Place, float]:
    """The numbers of all these machines together; one that they share has one value."""
    places = list(dict.fromkeys(free.place for fit in fits for free in fit.free))
    values = {free.place: free.value for fit in fits for free in fit.free}
    for _ in range(TURNS if places else 0):
        slopes, off = zip(*(_linear(fit, values, places) for fit in fits), strict=True)
        change, *_ = np.linalg.lstsq(np.vstack(slopes), -np.concatenate(off), rcond=None)
        for place, step in zip(places, change, strict=True):  # no leap past the linear
            values[place] += float(np.clip(step, -values[place] / 2, values[place] / 2))
    return values


def _linear(
    fit: Fit, values: Mapping[Place, float], places: Sequence[Place]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """How the machine's errors move with every number, and the errors themselves."""
    own = np.array([values[free.place] for free in fit.free])
    base, steps = fit.errors(own), np.maximum(STEP * own, 0.01)
    slopes = np.zeros((len(base), len(places)))
    for free, step, unit in zip(fit.free, steps, np.eye(len(own)), strict=True):
        slopes[:, places.index(free.place)] = (fit.errors(own + step * unit) - base) / step
    return slopes, base


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
    side = machine.levels.index(hardware.at_home[0].rstrip("0123456789"))
    across = machine.levels[side - 1]
    crossing = [mask for name, mask in masks.items() if hardware.classes[name].within == across]
    seen: Mask = np.logical_or.reduce([at_home, *crossing])
    return seen


# ---- The command ---------------------------------------------------------------------------------


def groups(names: Sequence[str]) -> Iterator[list[str]]:
    """Machines that share a fitted number, directly or through others, belong together."""
    left = dict.fromkeys(names)
    while left:
        group, waiting = [], [next(iter(left))]
        while waiting:
            name = waiting.pop()
            if name not in group:
                group.append(name)
                lists = (fitted_on(number, name) for number in topology.load(name).numbers)
                waiting += [other for ids in lists if name in ids for other in ids]
        for name in group:
            left.pop(name, None)
        yield sorted(group)


def write(fit: Fit, values: Mapping[Place, float]) -> None:
    """Puts the values where the old ones stand, followers too."""
    for free in fit.free:
        for (file, line), ratio in free.places:
            path, new = Path(file), f"{ratio * values[free.place]:.{DIGITS}g}"
            lines = path.read_text().splitlines(keepends=True)
            head, equals, text = lines[line - 1].partition("=")
            lines[line - 1] = head + equals + re.sub(r"[\d.]+", new, text, count=1)
            path.write_text("".join(lines))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("machines", nargs="*")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--matrices", type=Path)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--half", action="store_true")
    words = parser.parse_args()
    try:
        if words.half:
            for name in words.machines:
                _report_half(name, half(name, words.matrices))
            return
        for group in groups(words.machines or (figures.carried() if words.all else [])):
            fits = [prepare(name, words.matrices) for name in group]
            values = solve(fits)
            for fit in fits:
                _report(fit, values)
                if words.write:
                    write(fit, values)
    except UncoreError as error:
        sys.exit(f"fit: {error}")


def _report_half(name: str, off: NDArray[np.float64]) -> None:
    print(
        f"{name}: {off.size} pairs that the fit has not seen:"
        f" {off.mean():.2f} % off in the mean, {off.max():.2f} % at worst"
    )


def _report(fit: Fit, found: Mapping[Place, float]) -> None:
    values = [found[free.place] for free in fit.free]
    print(fit.name)
    for free, value in zip(fit.free, values, strict=True):
        print(f"    {free.key:<24} {free.value:g}{free.unit} -> {value:.{DIGITS}g}{free.unit}")
    scored = score(fit.machine(values), fit.hardware, fit.measured, fit.simulated(values), "fit")
    for name, (real, ours) in scored.medians.items():
        off = 100 * (ours / real - 1)
        print(f"    {name:<12} measured {real:8.2f}  simulated {ours:8.2f}  {off:+.1f} %")
    print(f"    classes {scored.class_mean_err_pct} / {scored.class_worst_err_pct} %, pairs"
          f" {scored.pair_mean_err_pct} % against {scored.pair_err_const_pct} %, structure"
          f" {scored.structure}, slice_r2 {scored.slice_r2}", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
