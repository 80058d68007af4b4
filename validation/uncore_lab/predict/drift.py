"""Finds recorded predictions that differ from those that the model makes now.

    watched() -> {machine: LedgerEntry}     the latest entry of each machine that nobody measured
    medians(entry) -> {class: ns}           the present prediction
    drift(entry, medians, moved)            sentences on classes that differ too much
    read_moved() -> {machine: Moved}        ledger/moved.toml: known changes, with reasons

A recorded prediction never changes, so a change of the model that would predict another value must
be noticed.  Each class must stay within MAX_UNRECORDED_MOVE of its latest entry, or of its value in
moved.toml, until a new day is sealed with the reason (`uncore predict --record MACHINE --reason
TEXT`).  Machines that were measured after their prediction are compared by `uncore validate --only
prediction` instead.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from uncore_lab.figures import hardware as figures
from uncore_lab.predict.forecast import predicted
from uncore_lab.predict.ledger import LEDGER, LedgerEntry, entries

# largest relative change of a class median that needs no new record
MAX_UNRECORDED_MOVE = 0.03
MOVED = LEDGER / "moved.toml"
RECORD_HINT = "seal a new day with the reason: uncore predict --record {} --reason TEXT"


class Moved(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Classes of a machine whose prediction changed, with their values in ns on that date."""

    date: str
    reason: str
    classes: dict[str, float]


class _MovedGroup(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    date: str
    reason: str
    machines: dict[str, dict[str, float]]


class _MovedFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    moved: list[_MovedGroup] = []


def watched(ledger: Path = LEDGER) -> dict[str, LedgerEntry]:
    measured = figures.machines_with_figures()
    return {e.machine: e for e in entries(ledger) if e.machine not in measured}


def medians(entry: LedgerEntry) -> dict[str, float]:
    forecast, _ = predicted(entry.machine, entry.predicted.home)
    return {label: median.ns for label, median in forecast.classes.items()}


def read_moved(path: Path = MOVED) -> dict[str, Moved]:
    file = msgspec.convert(tomllib.loads(path.read_text()), _MovedFile)
    return {
        name: Moved(group.date, group.reason, classes)
        for group in file.moved
        for name, classes in group.machines.items()
    }


def drift(entry: LedgerEntry, medians: Mapping[str, float], moved: Moved | None) -> list[str]:
    listed = moved.classes if moved else {}
    return [*_moved_classes(entry, medians, listed), *_superfluous_entries(entry, listed)]


def _moved_classes(
    entry: LedgerEntry, medians: Mapping[str, float], listed: Mapping[str, float]
) -> Iterator[str]:
    sealed = {label: ns for label, (_, ns, _) in entry.predicted.classes.items()}
    for label in sealed.keys() | medians.keys():
        expected, today = listed.get(label, sealed.get(label)), medians.get(label)
        source = "moved.toml says" if label in listed else f"sealed on {entry.date}"
        if expected is None or today is None or _moved_too_far(today, expected):
            yield (
                f"{entry.machine} {label}: {_ns_text(today)}, expected {_ns_text(expected)} as"
                f" {source}; {RECORD_HINT.format(entry.machine)}"
            )


def _superfluous_entries(entry: LedgerEntry, listed: Mapping[str, float]) -> Iterator[str]:
    for label, ns in listed.items():
        if label not in entry.predicted.classes:
            yield f"moved.toml: {entry.machine} has no class {label} on record"
        elif not _moved_too_far(ns, entry.predicted.classes[label][1]):
            yield f"moved.toml: {entry.machine} {label} is as sealed on {entry.date}; remove it"


def _moved_too_far(ns: float, expected: float) -> bool:
    return abs(ns / expected - 1) > MAX_UNRECORDED_MOVE


def _ns_text(ns: float | None) -> str:
    return "no such class" if ns is None else f"{ns:.1f} ns"
