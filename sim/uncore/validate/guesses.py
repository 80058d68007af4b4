"""What one would guess of a class median without any model: what a prediction must beat.

    Guesses(name).of(null, label) -> ns, or None     null: one of NULLS

    ns         the median of the same class over the maker's other machines
    cycles     the same in cycles of the core's clock
    relative   the same class of the machine whose core is the nearest relative

None where no other measured machine of the maker has the class.
"""

from __future__ import annotations

from statistics import median

from uncore.predict.numbers import CORE, clocks
from uncore.predict.observe import measured
from uncore.topology.lineage import lineage, nearness
from uncore.validate import hardware as figures

NULLS = ("ns", "cycles", "relative")


class Guesses:
    def __init__(self, name: str) -> None:
        self.own, self.core = clocks(name)[CORE], lineage(name).get("core", ())
        others = [other for other in measured() if other != name]
        self.descents = {other: lineage(other).get("core", ()) for other in others}
        self.same = [o for o in others if self.core and self.descents[o][:2] == self.core[:2]]

    def of(self, null: str, label: str) -> float | None:
        known = {o: figures.read(o).classes for o in self.same}
        ns = {o: classes[label].ns for o, classes in known.items() if label in classes}
        if not ns:
            return None
        if null == "ns":
            return median(ns.values())
        if null == "cycles":
            return median(value / clocks(o)[CORE] for o, value in ns.items()) * self.own
        return ns[max(ns, key=lambda o: nearness(self.descents[o], self.core))]
