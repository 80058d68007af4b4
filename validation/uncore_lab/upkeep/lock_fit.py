"""What locks cost, simulated beside measured; and the fit of a machine's numbers to a few points.

    python -m uncore_lab.upkeep.lock_fit MACHINE [PRIMITIVE [THREADS]] [--with KEY=VALUE ...]
                                      [--hold NS] [--think NS] [--ops N] [--cores N] [--seeds N]
    python -m uncore_lab.upkeep.lock_fit MACHINE --fit [KEY ...] [--write]

MACHINE is one with figures of locks, or what lockhammer calls it (x86-2); PRIMITIVE the beginning
of a name; several by comma, or `all`.  A cell is threads: measured/simulated (error).

`--fit` moves the keys that the machine's figures declare (`[fit]`), or those named, until the
points that the figures declare are met best, and prints what becomes of them; `--write` puts the
values into the machine's file, where they must stand.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from uncore import topology
from uncore.errors import UncoreError
from uncore.job.option_values import pairs
from uncore.job.placement import thread_counts
from uncore_lab.figures.simulate import SEEDS
from uncore_lab.fitting import solve as least
from uncore_lab.fitting.numbers import Free, free, highest, settings, stepped
from uncore_lab.upkeep.numbers import amount, put
from uncore_lab.validate import lockhammer
from uncore_lab.validate.lock_curves import Point, measure
from uncore_lab.validate.lockhammer import PRIMITIVES, SLEEPING, Spot

Overrides = dict[str, str]
Ns = Sequence[float]

MOST = 12  # evaluations of a fit, derivatives not counted
SCAN = np.log([1, 0.5, 0.7, 0.85, 1.2, 1.4, 2])


def show(machine: str, words: argparse.Namespace) -> None:
    most = lockhammer.read(machine).most
    counts = [n for n in thread_counts(words.threads, most) if n <= most]
    for primitive in named(words.primitive, (*PRIMITIVES, SLEEPING)):
        spots = [Spot(machine, primitive, words.hold, words.think, n) for n in counts]
        points = measure(spots, words.cores, given(words), words.ops, seeds(words))
        print(f"{machine} {primitive:16}", "  ".join(map(_cell, points)), flush=True)


def _cell(point: Point) -> str:
    real, ours = point.spot.measured.median, point.simulated.median
    return f"{point.spot.threads}: {real:.0f}/{ours:.0f}({point.error:+.0f}%)"


def seeds(words: argparse.Namespace) -> tuple[int, ...]:
    return tuple(range(1, words.seeds + 1))


def given(words: argparse.Namespace) -> Overrides:
    return dict(pairs("--with", words.with_))


def named(text: str, known: Sequence[str] | Mapping[str, object]) -> list[str]:
    """Those that begin with one of the words."""
    found = [one for one in known if text == "all" or one.startswith(tuple(text.split(",")))]
    if not found:
        raise UncoreError(f"{text}: expected the beginning of one of {', '.join(known)}, or all")
    return found


def machines(text: str) -> list[str]:
    hosts = {lockhammer.read(name).host: name for name in lockhammer.carried()}
    known = [*hosts, *hosts.values()]
    wanted = list(hosts) if text == "all" else text.split(",")
    if unknown := [one for one in wanted if one not in known]:
        raise UncoreError(f"{unknown[0]}: expected one of {', '.join(known)}, or all")
    return [hosts.get(one, one) for one in wanted]


# ---- The fit -------------------------------------------------------------------------------------


def movable(machine: str, keys: Sequence[str]) -> dict[str, Free]:
    if not keys:
        raise UncoreError(
            f"{machine}: its figures declare no numbers to fit; write --fit core.hold, say"
        )
    try:
        frees = free(machine, keys)
    except KeyError as error:
        raise UncoreError(f"{error.args[0]}; expected times, such as core.hold") from None
    if missing := [key for key in keys if key not in frees]:
        raise UncoreError(f"{machine}: no number is called {', '.join(missing)}")
    return frees


def solve(
    frees: Mapping[str, Free], measured: Sequence[float], simulate: Callable[[Overrides], Ns]
) -> dict[str, float]:
    """By how much the logarithm of each number has to move."""

    def off(steps: least.Vector) -> least.Vector:
        return np.log(np.array(simulate(moved(frees, steps.tolist()))) / measured)

    first = scanned(len(frees), off)
    found = least.solve([least.Part(list(frees), off, highest(frees))], begin=first, most=MOST)
    steps = min(first, found.steps, key=lambda steps: float(np.sum(off(steps) ** 2)))
    return dict(zip(frees, steps.tolist(), strict=True))


def scanned(numbers: int, off: Callable[[least.Vector], least.Vector]) -> least.Vector:
    """Where the solver begins: the best of a few values of each number, one after the other.

    How many operations a core does before it lets a line go is a whole number, so errors move in
    steps, between which nothing tells the solver where to go.
    """
    best = np.zeros(numbers)
    for at in range(numbers):
        each = [best + np.eye(numbers)[at] * step for step in SCAN]
        best = min(each, key=lambda steps: float(np.sum(off(steps) ** 2)))
    return best


def moved(frees: Mapping[str, Free], steps: Iterable[float]) -> Overrides:
    return dict(item.split("=", 1) for item in settings(stepped(frees, steps), frees))


def fit(machine: str, words: argparse.Namespace) -> None:
    declared = lockhammer.read(machine).fit
    frees = movable(machine, words.fit or declared.keys)
    spots = [Spot(machine, p, 0, 0, n) for p in declared.primitives for n in declared.threads]

    def points(overrides: Overrides) -> list[Point]:
        every = given(words) | overrides
        return measure(spots, words.cores, every, words.ops, seeds(words))

    steps = solve(
        frees,
        [spot.measured.median for spot in spots],
        lambda overrides: [point.simulated.median for point in points(overrides)],
    )
    numbers = {number.key: number for number in topology.load(machine).numbers}
    for key, step in steps.items():
        number, new = numbers[key], amount(numbers[key], step)
        print(f"    {key:<28} {number.text} -> {new}")
        if words.write:
            put((number.file, number.line), new)
    for point in points(moved(frees, steps.values())):
        print(f"    {point.spot.primitive:<16} {_cell(point)}")


# ---- The command ---------------------------------------------------------------------------------


def parser() -> argparse.ArgumentParser:
    words = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    words.add_argument("machine")
    words.add_argument("primitive", nargs="?", default="all")
    words.add_argument("threads", nargs="?", default="2..max")
    words.add_argument("--with", dest="with_", action="append", default=[])
    words.add_argument("--hold", type=int, default=0)
    words.add_argument("--think", type=int, default=0)
    words.add_argument("--ops", type=int, default=0)
    words.add_argument("--cores", type=int, default=1)
    words.add_argument("--seeds", type=int, default=len(SEEDS), help="0: lockstep")
    words.add_argument("--fit", nargs="*")
    words.add_argument("--write", action="store_true")
    return words


def main() -> None:
    words = parser().parse_args()
    try:
        for machine in machines(words.machine):
            (show if words.fit is None else fit)(machine, words)
    except UncoreError as error:
        sys.exit(f"locks: {error}")


if __name__ == "__main__":
    main()
