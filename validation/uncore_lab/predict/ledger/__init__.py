"""The ledger: what was predicted of machines before anybody here had measured them.

    entries() -> [Entry]         every machine ever predicted blind, and what was measured since
    scores() -> [Scored]         what was reported of predictions whose measurements are held back
    read_day(path) -> {machine: Prediction}

    YYYY-MM-DD.toml      what was recorded on that day; record.py writes today's and no other
    measured.toml        what was measured since

Invariant: nothing here asks the model, a machine file or a figure, so a better model leaves what is
on record as it was.  A day's seal is the digest of its predictions; a measurement is an addition
beside them.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from uncore.errors import UserError

LEDGER = Path(__file__).parent
MEASURED = "measured.toml"
DAY = "[0-9]" * 4 + "-[0-9][0-9]" * 2 + ".toml"
Kind = TypeVar("Kind")


class Prediction(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Class medians of one machine, in ns: low, predicted, high."""

    commit: str  # that predicted it
    classes: dict[str, tuple[float, float, float]]
    home: str = ""  # of the line, where memory has several nodes
    kept: list[str] = []  # classes that rest on a guess of the machine's file


class Measured(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What somebody measured afterwards: medians of the classes as they were predicted."""

    date: str  # when it came here
    source: str
    classes: dict[str, float]
    note: str = ""


class Scored(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What whoever has the measurements says of predictions, without the measurements."""

    date: str
    machines: list[str]
    said: str


class Entry(msgspec.Struct, frozen=True):
    machine: str
    date: str
    predicted: Prediction
    measured: Measured | None
    scored: Scored | None


class _Since(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    scored: list[Scored] = []
    machines: dict[str, Measured] = {}


class _Day(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    seal: str
    machines: dict[str, Prediction]


def entries(ledger: Path = LEDGER) -> list[Entry]:
    since = _since(ledger)
    scored = {name: one for one in since.scored for name in one.machines}
    found = [
        Entry(name, path.stem, one, since.machines.get(name), scored.get(name))
        for path in sorted(ledger.glob(DAY))
        for name, one in read_day(path).items()
    ]
    _check(since, {entry.machine: entry for entry in found}, ledger / MEASURED)
    return found


def scores(ledger: Path = LEDGER) -> list[Scored]:
    return _since(ledger).scored


def read_day(path: Path) -> dict[str, Prediction]:
    day = _read(path, _Day)
    if day.seal != seal(day.machines):
        raise UserError(
            f"{path}: its seal is {day.seal}, that of what it says {seal(day.machines)}: a"
            " prediction was changed after it was recorded; take the file from the history again"
        )
    return day.machines


def seal(machines: Mapping[str, Prediction]) -> str:
    return sha256(msgspec.json.encode(machines, order="sorted")).hexdigest()[:16]


def _since(ledger: Path) -> _Since:
    return _read(ledger / MEASURED, _Since)


def _check(since: _Since, known: Mapping[str, Entry], path: Path) -> None:
    """A measurement is of a class that was predicted."""
    for name, one in since.machines.items():
        predicted = known[name].predicted.classes if name in known else {}
        for label in one.classes:
            if label not in predicted:
                expected = ", ".join(predicted) or "no prediction is on record"
                raise UserError(f"{path}: {name} has '{label}'; expected one of {expected}")


def _read(path: Path, kind: type[Kind]) -> Kind:
    try:
        document: Any = tomllib.loads(path.read_text())
        return msgspec.convert(document, kind)
    except (OSError, tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise UserError(f"{path}: no page of the ledger: {error}") from None
