"""What a machine that nobody measured will show, how sure that is, and where each number came from.

    main(name, home, json)       prints class medians with intervals, and the rule of each number

    observe.py     those numbers of measured machines, each from its own figures: observed.toml
    relatives.py   a number lent by relatives: value, unit, deviation
    forecast.py    numbers and deviations through the engine into classes and intervals
    ledger/        what was predicted before anybody here had measured it, and measured since

The method and its limits: docs/prediction.md.  `uncore validate --only prediction` leaves each
measured machine out in turn and looks how often the truth was inside.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from uncore import topology
from uncore.drawing.formats import EMPTY
from uncore.drawing.table import Column, emit, print_json, say
from uncore.support.output_files import write_whole
from uncore.topology.machine import Machine
from uncore_lab.figures.published import handoffs
from uncore_lab.fitting.numbers import RATIO
from uncore_lab.predict.forecast import SHARE, Forecast, predicted
from uncore_lab.predict.machine_file import machine_file


def main(name: str, home: str = "", *, json: bool = False, output: Path | None = None) -> int:
    found, where = predicted(name, home)
    if output:  # before anything is printed: who reads it may have seen enough
        write_whole(output, machine_file(found, name, output))
    if json:
        print_json(_document(found, where or "node0"))
    else:
        _show(found, topology.load(name), where)
    return 0


def _document(found: Forecast, home: str) -> dict[str, object]:
    return {
        "machine": found.machine,
        "home": home,
        "share": SHARE,
        "classes": [asdict(c) for c in found.classes.values()],
        "numbers": [asdict(loan) for loan in found.loans],
        "kept": list(found.unlent),
    }


def _show(found: Forecast, machine: Machine, home: str) -> None:
    known = handoffs(machine)
    measured = known.ns if known else {}
    share = f"{SHARE:.0%}".replace("%", " %")
    where = f"; the line homed on {home}" if home else ""
    emit(
        [asdict(c) | {"measured": measured.get(c.name)} for c in found.classes.values()],
        False,
        CLASSES,
        f"{machine.name}: one handoff, predicted, with {share} intervals{where}",
    )
    rows = [asdict(loan) for loan in found.loans]
    if rows:
        emit(rows, False, NUMBERS, "its numbers: the median of the nearest relatives")
    elif not found.unlent:
        say("Every number of this machine is given; none had to be predicted.")
    for key, deviation in found.unlent.items():
        say(
            f"{key}: no measured machine has such a part; the value of its file is kept,"
            f" with a deviation of {100 * deviation:.0f} %"
        )


def _tenths(value: float) -> str:
    return f"{value:.1f}"


def _value(value: float, unit: str) -> str:
    return f"{value:.2f}" if unit == RATIO else f"{value:.2f} ns"


def _rule(amount: float, unit: str) -> str:
    """In the unit that relatives share."""
    if unit == RATIO:
        return f"{amount:.2f}"
    return f"{amount:.2f} ns" if unit == "ns" else f"{amount:.1f} cycles of the {unit} clock"


CLASSES = [
    Column("class", "name", left=True, about="the innermost level that holds both cores"),
    Column("ns", "ns", _tenths, about="median of a handoff between two such cores, predicted"),
    Column("from", "low", _tenths, about="lower end of the interval"),
    Column("to", "high", _tenths, about="upper end of the interval"),
    Column(
        "measured",
        "measured",
        lambda v: EMPTY if v is None else _tenths(v),
        about="ns on the real machine, where somebody has measured it",
    ),
    Column("", lambda row: None if row["lent"] else "nobody lent a number that it needs"),
]
NUMBERS = [
    Column("number", "key", left=True, about="a key of the machine"),
    Column("value", lambda row: _value(row["value"], row["unit"]), about="what it is taken to be"),
    Column(
        "deviation",
        "deviation",
        lambda v: f"{100 * v:.0f} %",
        about="how far the truth may be from it, by how far relatives are from each other",
    ),
    Column(
        "rule",
        lambda row: _rule(row["amount"], row["unit"]),
        left=True,
        about="what relatives have in common: a time, cycles of a clock, or a ratio",
    ),
    Column("of", lambda row: " ".join(row["machines"]), left=True, about="who lends it"),
    Column("related by", lambda row: " ".join(row["shared"]), left=True, about="what they share"),
]
COLUMNS = [*CLASSES, *NUMBERS]
