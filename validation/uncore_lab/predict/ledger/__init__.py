"""The ledger: predictions of machines, recorded before anybody here had measured them.

    entries() -> [LedgerEntry]   every recorded prediction, and the figures measured since
    scores() -> [Scored]         verdicts on predictions whose measurements are not published
    read_day(path) -> RecordedDay

    YYYY-MM-DD.toml      the predictions of that day; record.py writes only today's file
    measured.toml        figures measured after the prediction
    moved.toml           classes for which the model has since changed its prediction, with reasons
                         (drift.py)

Invariant: nothing in this package reads the model, a machine file or a figure, so a better model
does not change a record.  A day's seal is the digest of its predictions.  Measurements, and new
predictions of a later day with their reasons, are added in other files.
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
    """Millions of operations per second of all threads together, at each thread count."""

    threads: list[int]
    # (least, median, greatest) over the seeds at each thread count, by workload
    millions: dict[str, list[tuple[float, float, float]]]


class RecordedPrediction(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Predicted class medians of one machine, in ns: low, predicted, high."""

    commit: str  # commit whose model predicted it
    classes: dict[str, tuple[float, float, float]]
    home: str = ""  # home of the line, if the machine has several memory nodes
    kept: list[str] = []  # classes whose prediction rests on a guess
    rates: Rates | msgspec.UnsetType = msgspec.UNSET  # contended atomics and spin locks


class MeasuredSince(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Medians of the predicted classes that somebody measured after the prediction."""

    date: str  # when the project received the medians
    source: str
    classes: dict[str, float]
    note: str = ""
    rates: dict[str, list[float]] = {}  # rates at the predicted thread counts, by workload


class Scored(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A verdict on predictions, given by somebody who does not publish the measurements."""

    date: str
    machines: list[str]
    said: str


class RecordedDay(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The predictions recorded on one day."""

    seal: str
    machines: dict[str, RecordedPrediction]
    reasons: dict[str, str] = {}  # reason for predicting a machine again, by machine

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
    """Returns all recorded predictions in the order of days, each with the figures measured after
    it. Raises an error for figures that are older than the prediction.
    """
    since = _since(ledger)
    entries = [
        LedgerEntry(name, path.stem, prediction, *_measured_and_scored(since, name, path.stem))
        for path in sorted(ledger.glob(DAY_FILES))
        for name, prediction in read_day(path).machines.items()
    ]
    _check(since, entries, ledger / MEASURED_FILE)
    return entries


def _measured_and_scored(
    since: _Since, name: str, day: str
) -> tuple[MeasuredSince | None, Scored | None]:
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
    """Returns the seal of a day: a digest of its predictions and reasons. Without reasons the
    digest covers only the predictions, as on the first days, whose files had no reasons.
    """
    content = msgspec.json.encode(machines, order="sorted")
    if reasons:
        content += msgspec.json.encode(reasons, order="sorted")
    return sha256(content).hexdigest()[:16]


def _since(ledger: Path) -> _Since:
    return _read(ledger / MEASURED_FILE, _Since)


def _check(since: _Since, entries: Sequence[LedgerEntry], path: Path) -> None:
    """Raises an error for a measured class that was not predicted."""
    for name, measured in since.machines.items():
        predictions = [entry for entry in entries if entry.machine == name]
        predicted = {label for entry in predictions for label in entry.predicted.classes}
        for label in measured.classes:
            if label not in predicted:
                expected = ", ".join(sorted(predicted)) or "no prediction is on record"
                raise UserError(f"{path}: {name} has '{label}'; expected one of {expected}")
        _check_rates(measured, predictions, f"{path}: {name}")


def _check_rates(measured: MeasuredSince, predictions: Sequence[LedgerEntry], where: str) -> None:
    foretold = [entry.predicted.rates for entry in predictions if entry.predicted.rates]
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
