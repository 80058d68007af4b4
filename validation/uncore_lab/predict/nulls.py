"""Guesses a machine's class medians without a model; a simulation must beat these baselines.

    guesses(name, label, others) -> {null: Guessed}     from the measured machines `others`, by
                                                        default from all
    errors(name) -> Nulls                               mean error of each baseline in per cent
    kind(machine, distance_class) -> str                name of a class that is the same on all
                                                        machines, such as "l3" or "pkg"

    same_ns         the median of the same class on other machines of the same maker
    same_cycles     like same_ns, in cycles of the cores
    relative        the same class of the nearest relative: the machine with the most shared descent
                    (`[lineage]`), and among these the one of the most similar size
    scaled          like relative, in cycles of the cores
    family          the median of the class over all machines whose cores are as closely related as
                    those of the nearest relative

A baseline is missing if no other measured machine has such a class.  Only machines that were
measured well enough are used.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from functools import cache
from math import log
from typing import NamedTuple

from uncore import topology
from uncore.topology.lineage import lineage, nearness
from uncore.topology.machine import Machine
from uncore.topology.units import frequency
from uncore_lab.figures import hardware as figures
from uncore_lab.figures.hardware import DistanceClass

SIBLINGS, SHARED, PACKAGE, SOCKETS = "smt", "l3", "pkg", "xsocket"  # kinds of classes


class Nulls(NamedTuple):
    """Mean errors of the baselines for a machine's handoffs, in per cent."""

    same_ns: float | None
    same_cycles: float | None
    relative: float | None


MODEL_FREE = ("relative", "scaled", "family")  # the baselines that a prediction must beat


class Guessed(NamedTuple):
    ns: float
    machines: tuple[str, ...]  # machines that the guess comes from


class _KnownMachine(NamedTuple):
    """The properties of a measured machine from which baselines guess other machines."""

    name: str
    cores: int
    ghz: float
    descent: dict[str, tuple[str, ...]]
    ns: dict[str, float]  # ns of each class

    @property
    def core(self) -> tuple[str, ...]:
        return self.descent.get("core", ())

    @property
    def maker(self) -> tuple[str, ...]:
        return self.core[:2]

    def ns_of(self, label: str) -> float | None:
        """Returns the ns of a class. If the machine's classes have no sides, its one class stands
        for every side.
        """
        return self.ns.get(label, self.ns.get(label.partition("-")[0]))


def errors(name: str) -> Nulls:
    errors_pct: dict[str, list[float]] = {field: [] for field in Nulls._fields}
    for label, truth in _known_machine(name).ns.items():
        for field, guess in guesses(name, label).items():
            if field in errors_pct:
                errors_pct[field].append(100 * abs(guess.ns / truth - 1))
    mean_errors = (
        statistics.fmean(class_errors) if class_errors else None
        for class_errors in errors_pct.values()
    )
    return Nulls(*(None if mean is None else round(mean, 2) for mean in mean_errors))


def guesses(name: str, label: str, others: Sequence[str] | None = None) -> dict[str, Guessed]:
    """Guesses one class by each baseline. `label` is a name that `kind` returns."""
    target = _known_machine(name)
    machine_names = figures.well_measured() if others is None else others
    others_with_class = [
        (other_machine, ns)
        for n in machine_names
        if n != target.name and (ns := (other_machine := _known_machine(n)).ns_of(label))
    ]
    null_guesses: dict[str, Guessed] = {}
    if same_maker := [
        (other_machine, ns)
        for other_machine, ns in others_with_class
        if target.maker and other_machine.maker == target.maker
    ]:
        names = tuple(other_machine.name for other_machine, _ in same_maker)
        in_cycles = statistics.median(ns * o.ghz for o, ns in same_maker) / target.ghz
        null_guesses["same_ns"] = Guessed(statistics.median(ns for _, ns in same_maker), names)
        null_guesses["same_cycles"] = Guessed(in_cycles, names)
    if others_with_class:
        nearest, ns = max(others_with_class, key=lambda pair: _kinship(target, pair[0]))
        null_guesses["relative"] = Guessed(ns, (nearest.name,))
        null_guesses["scaled"] = Guessed(ns * nearest.ghz / target.ghz, (nearest.name,))
        null_guesses["family"] = _guess_of_relatives(target, nearest, others_with_class)
    return null_guesses


def _guess_of_relatives(
    target: _KnownMachine,
    nearest: _KnownMachine,
    others_with_class: list[tuple[_KnownMachine, float]],
) -> Guessed:
    kinship = nearness(target.core, nearest.core)
    members = [pair for pair in others_with_class if nearness(target.core, pair[0].core) >= kinship]
    names = tuple(member.name for member, _ in members)
    return Guessed(statistics.median(ns for _, ns in members), names)


def _kinship(machine: _KnownMachine, other_machine: _KnownMachine) -> tuple[int, float]:
    common_parts = machine.descent.keys() & other_machine.descent.keys()
    shared_words = sum(
        nearness(machine.descent[level], other_machine.descent[level]) for level in common_parts
    )
    return shared_words, -abs(log(machine.cores / other_machine.cores))


@cache
def _known_machine(name: str) -> _KnownMachine:
    machine = topology.load(name, measured=True)
    hardware = figures.read(machine.id) if machine.id in figures.machines_with_figures() else None
    medians = {label: one.ns for label, one in hardware.classes.items()} if hardware else {}
    return _KnownMachine(machine.id, machine.cores, _ghz(machine), lineage(name), medians)


def _ghz(machine: Machine) -> float:
    clock = next(number.text for number in machine.numbers if number.key == "core.clock")
    return 1000 / float(frequency(clock))


def kind_without_side(kind: str) -> str:
    """Returns the name of a kind of classes without the side of the home and the kinds of cores."""
    return kind.partition("-")[0]


def kind(machine: Machine, distance_class: DistanceClass) -> str:
    """Returns the name that figures of all machines give such a class. Pairs of siblings, of the
    innermost resolver, of two sockets and of a package have fixed names; other levels keep their
    own names. Suffixes name the side of the home and small cores.
    """
    shared = machine.resolvers[0].level
    innermost = machine.levels[machine.levels.index(shared) :]
    distance_kind = {"core": SIBLINGS, "system": SOCKETS, "socket": PACKAGE}.get(
        distance_class.within, distance_class.within
    )
    if distance_class.within in innermost and distance_class.within != "core":
        distance_kind = SHARED if distance_class.within == shared else distance_class.within
    kinds = "-".join(dict.fromkeys(distance_class.kinds.split()))
    return "-".join(
        filter(None, (distance_kind, distance_class.side, kinds if kinds != "core" else ""))
    )
