"""The ledger: what was predicted of machines before anybody here had measured them.

    entries() -> [LedgerEntry]   every machine ever predicted blind, and its figures measured since
    scores() -> [Scored]         what was reported of predictions whose measurements are held back
    read_day(path) -> RecordedDay

    YYYY-MM-DD.toml      what was recorded on that day; record.py writes today's and no other
    measured.toml        what was measured since
    moved.toml           what the model says otherwise since, and why (drift.py)

Invariant: nothing here asks the model, a machine file or a figure, so a better model leaves what is
on record as it was.  A day's seal is the digest of its predictions; a measurement is an addition
beside them, and so is a prediction of a later day, which says why it was made anew.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from uncore.errors import UserError

LEDGER = Path(__file__).parent
MEASURED_FILE = "measured.toml"
DAY_FILES = "[0-9]" * 4 + "-[0-9][0-9]" * 2 + ".toml"
Kind = TypeVar("Kind")


class Rates(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Million operations a second of all threads together, a row for each count of threads."""

    threads: list[int]
    millions: dict[str, list[tuple[float, float, float]]]  # least, median and most of the seeds


class RecordedPrediction(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Class medians of one machine, in ns: low, predicted, high."""

    commit: str  # that predicted it
    classes: dict[str, tuple[float, float, float]]
    home: str = ""  # home of the line where memory has several nodes
    kept: list[str] = []  # classes that rest on a guess of the machine's file
    rates: Rates | msgspec.UnsetType = msgspec.UNSET  # contended atomics and spin locks


class MeasuredSince(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Medians that somebody measured after the prediction, for the predicted classes."""

    date: str  # date at which the medians came to the project
    source: str
    classes: dict[str, float]
    note: str = ""
    rates: dict[str, list[float]] = {}  # rates at the counts of threads that were predicted


class Scored(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A verdict on predictions from somebody who has the measurements and does not publish them."""

    date: str
    machines: list[str]
    said: str


class RecordedDay(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The predictions recorded on one day."""

    seal: str
    machines: dict[str, RecordedPrediction]
    reasons: dict[str, str] = {}  # why a machine that was on record is predicted anew

    @property
    def true_seal(self) -> str:
        return seal(self.machines, self.reasons)


class LedgerEntry(msgspec.Struct, frozen=True):
    machine: str
    date: str
    predicted: RecordedPrediction
    measured: MeasuredSince | None
    scored: Scored | None


class _Since(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    scored: list[Scored] = []
    machines: dict[str, MeasuredSince] = {}


def entries(ledger: Path = LEDGER) -> list[LedgerEntry]:
    """All recorded predictions by day, each with the figures measured since. Rejects figures that
    are older than the prediction.
    """
    since = _since(ledger)
    entries = [
        LedgerEntry(name, path.stem, prediction, *_known_since(since, name, path.stem))
        for path in sorted(ledger.glob(DAY_FILES))
        for name, prediction in read_day(path).machines.items()
    ]
    _check(since, entries, ledger / MEASURED_FILE)
    return entries


def _known_since(since: _Since, name: str, day: str) -> tuple[MeasuredSince | None, Scored | None]:
    measured = since.machines.get(name)
    scored = [score for score in since.scored if name in score.machines and score.date >= day]
    return (
        measured if measured and measured.date >= day else None,
        scored[-1] if scored else None,
    )


def scores(ledger: Path = LEDGER) -> list[Scored]:
    return _since(ledger).scored


def read_day(path: Path) -> RecordedDay:
    day = _read(path, RecordedDay)
    if day.seal != day.true_seal:
        raise UserError(
            f"{path}: its seal is {day.seal}, that of what it says {day.true_seal}: a"
            " prediction was changed after it was recorded; take the file from the history again"
        )
    return day


def seal(machines: Mapping[str, RecordedPrediction], reasons: Mapping[str, str]) -> str:
    """Seals a day. One without reasons is sealed as the first days were, which had none."""
    content = msgspec.json.encode(machines, order="sorted")
    if reasons:
        content += msgspec.json.encode(reasons, order="sorted")
    return sha256(content).hexdigest()[:16]


def _since(ledger: Path) -> _Since:
    return _read(ledger / MEASURED_FILE, _Since)


def _check(since: _Since, entries: Sequence[LedgerEntry], path: Path) -> None:
    """Checks that each measurement is of a class that was predicted."""
    for name, measured in since.machines.items():
        own = [entry for entry in entries if entry.machine == name]
        predicted = {label for entry in own for label in entry.predicted.classes}
        for label in measured.classes:
            if label not in predicted:
                expected = ", ".join(sorted(predicted)) or "no prediction is on record"
                raise UserError(f"{path}: {name} has '{label}'; expected one of {expected}")
        _check_rates(measured, own, f"{path}: {name}")


def _check_rates(measured: MeasuredSince, own: Sequence[LedgerEntry], where: str) -> None:
    foretold = [entry.predicted.rates for entry in own if entry.predicted.rates]
    for workload, millions in measured.rates.items():
        if not any(
            workload in rates.millions and len(rates.threads) == len(millions) for rates in foretold
        ):
            raise UserError(
                f"{where}, {workload}: expected a rate for each count that is predicted"
            )


def _read(path: Path, kind: type[Kind]) -> Kind:
    try:
        document: Any = tomllib.loads(path.read_text())
        return msgspec.convert(document, kind)
    except (OSError, tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise UserError(f"{path}: no page of the ledger: {error}") from None
