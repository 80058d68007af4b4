"""The ledger: predictions of machines, recorded before anybody here had measured them.

    entries() -> [LedgerEntry]   every recorded prediction, and the figures measured since
    scores() -> [Scored]         verdicts on predictions whose measurements are not published
    read_day(path) -> RecordedDay

    YYYY-MM-DD.toml      the predictions of that day; record.py writes only today's file
    measured.toml        figures measured after the prediction
    moved.toml           values that the model predicts otherwise since, with reasons (drift.py)

Invariant: nothing here reads the model, a machine file or a figure, so a better model leaves a
record as it was.  A day's seal is the digest of its predictions.  A measurement is added beside
them, and so is a prediction of a later day, which gives the reason for the new prediction.
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
    """Millions of operations a second of all threads together, at each thread count."""

    threads: list[int]
    # workload -> (least, median, most) over seeds for each count
    millions: dict[str, list[tuple[float, float, float]]]


class RecordedPrediction(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Predicted class medians of one machine, in ns: low, predicted, high."""

    commit: str  # commit whose model predicted it
    classes: dict[str, tuple[float, float, float]]
    home: str = ""  # home of the line, if memory has several nodes
    kept: list[str] = []  # classes whose prediction rests on a guess
    rates: Rates | msgspec.UnsetType = msgspec.UNSET  # contended atomics and spin locks


class MeasuredSince(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Medians that somebody measured after the prediction, for the predicted classes."""

    date: str  # when the project received the medians
    source: str
    classes: dict[str, float]
    note: str = ""
    rates: dict[str, list[float]] = {}  # workload -> rates at the predicted thread counts


class Scored(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A verdict on predictions, given by somebody who does not publish the measurements."""

    date: str
    machines: list[str]
    said: str


class RecordedDay(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The predictions recorded on one day."""

    seal: str
    machines: dict[str, RecordedPrediction]
    reasons: dict[str, str] = {}  # machine -> why it is predicted again

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
    """Returns all recorded predictions by day, each with the figures measured since. Raises an
    error for figures that are older than the prediction.
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
    digest is that of the first days, whose files had none.
    """
    content = msgspec.json.encode(machines, order="sorted")
    if reasons:
        content += msgspec.json.encode(reasons, order="sorted")
    return sha256(content).hexdigest()[:16]


def _since(ledger: Path) -> _Since:
    return _read(ledger / MEASURED_FILE, _Since)


def _check(since: _Since, entries: Sequence[LedgerEntry], path: Path) -> None:
    """Checks that each measured class was predicted."""
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
