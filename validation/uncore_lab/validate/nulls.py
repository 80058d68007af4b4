"""What a simulation must beat: predictions of a machine's class medians that need no model.

    errors(name) -> Nulls       mean error of each in per cent, over the classes it has words for
    guesses(name, class) -> ns by null

    same_ns         the median of the same class on other machines of the same maker
    same_cycles     the same in cycles of their cores
    relative        the same class of the nearest relative: most shared descent (`[lineage]`), then
                    the size most like

None: no other measured machine has such a class.  Only machines measured well enough are asked.
"""

from __future__ import annotations

import statistics
from functools import cache
from math import log
from typing import NamedTuple

from uncore import topology
from uncore.topology.lineage import lineage, nearness
from uncore.topology.machine import Machine
from uncore.topology.units import frequency
from uncore_lab.figures import hardware as figures


class Nulls(NamedTuple):
    same_ns: float | None
    same_cycles: float | None
    relative: float | None


class _Known(NamedTuple):
    """A measured machine, as far as other machines are guessed from it."""

    name: str
    cores: int
    ghz: float
    descent: dict[str, tuple[str, ...]]
    ns: dict[str, float]  # by class

    @property
    def maker(self) -> tuple[str, ...]:
        return self.descent.get("core", ())[:2]

    def of(self, label: str) -> float | None:
        """A class; a machine without sides has one for all of them."""
        return self.ns.get(label, self.ns.get(label.partition("-")[0]))


def errors(name: str) -> Nulls:
    off: dict[str, list[float]] = {field: [] for field in Nulls._fields}
    for label, truth in _known(name).ns.items():
        for field, guess in guesses(name, label).items():
            off[field].append(100 * abs(guess / truth - 1))
    means = (statistics.fmean(found) if found else None for found in off.values())
    return Nulls(*(None if mean is None else round(mean, 2) for mean in means))


def guesses(name: str, label: str) -> dict[str, float]:
    """Of one class of a machine that was measured."""
    one = _known(name)
    others = [_known(n) for n in figures.well_measured() if n != name]
    known = [(other, ns) for other in others if (ns := other.of(label))]
    found: dict[str, float] = {}
    if same := [(other, ns) for other, ns in known if one.maker and other.maker == one.maker]:
        found["same_ns"] = statistics.median(ns for _, ns in same)
        found["same_cycles"] = statistics.median(ns * o.ghz for o, ns in same) / one.ghz
    if known:
        found["relative"] = max(known, key=lambda pair: _kinship(one, pair[0]))[1]
    return found


def _kinship(one: _Known, other: _Known) -> tuple[int, float]:
    shared = one.descent.keys() & other.descent.keys()
    near = sum(nearness(one.descent[level], other.descent[level]) for level in shared)
    return near, -abs(log(one.cores / other.cores))


@cache
def _known(name: str) -> _Known:
    machine, hardware = topology.load(name, measured=True), figures.read(name)
    medians = {label: one.ns for label, one in hardware.classes.items()}
    return _Known(name, machine.cores, _ghz(machine), lineage(name), medians)


def _ghz(machine: Machine) -> float:
    clock = next(number.text for number in machine.numbers if number.key == "core.clock")
    return 1000 / float(frequency(clock))
