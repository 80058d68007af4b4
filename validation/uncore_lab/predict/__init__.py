"""Predicts an unmeasured machine: class medians with intervals, and where each number came from.

    main(name, home, json)       prints class medians with intervals, and the rule of each number

    observe.py     fits each measured machine's numbers to its own figures: observed.toml
    relatives.py   predicts a number from related machines ("lends" it)
    guesses.py     numbers that no relative lends, and their uncertainty
    forecast.py    draws machines from these distributions, and simulates them to predict classes
    mixture.py     probability distribution of a number or a class
    nulls.py       baselines without a model ("null models")
    copied.py      classes that a baseline predicts at least as well
    ledger/        predictions made before the machine was measured, and later measurements

The method and its limits: docs/prediction.md.  `uncore validate --only prediction` leaves each
measured machine out in turn and counts how often the intervals contain the true median.
"""

from __future__ import annotations

from pathlib import Path

from uncore import topology
from uncore.drawing.formats import EMPTY
from uncore.drawing.table import Column, Row, emit, print_json
from uncore.support.output_files import write_whole
from uncore.topology.machine import Machine
from uncore_lab.figures.published import handoffs
from uncore_lab.fitting.numbers import RATIO
from uncore_lab.predict.forecast import INTERVAL_SHARE, Forecast, predicted
from uncore_lab.predict.machine_file import machine_file


def main(name: str, home: str = "", *, json: bool = False, output: Path | None = None) -> int:
    prediction, where = predicted(name, home)
    if output:  # write the file first, because printing fails if the reader closes the pipe
        write_whole(output, machine_file(prediction, name, output))
    if json:
        print_json(_document(prediction, where or "node0"))
    else:
        _show(prediction, topology.load(name), where)
    return 0


def _document(prediction: Forecast, home: str) -> dict[str, object]:
    return {
        "machine": prediction.machine,
        "home": home,
        "share": INTERVAL_SHARE,
        "classes": [predicted_class.row() for predicted_class in prediction.classes.values()],
        "numbers": [loan.row() for loan in prediction.loans],
        "guesses": [guess.row() for guess in prediction.guesses],
    }


def _show(prediction: Forecast, machine: Machine, home: str) -> None:
    simulated = handoffs(machine)
    measured = simulated.ns if simulated else {}
    share = f"{INTERVAL_SHARE:.0%}".replace("%", " %")
    where = f"; the line homed on {home}" if home else ""
    emit(
        [
            predicted_class.row() | {"measured": measured.get(predicted_class.name)}
            for predicted_class in prediction.classes.values()
        ],
        False,
        CLASS_COLUMNS,
        f"{machine.name}: one handoff, predicted, with {share} intervals"
        f"{where}{_guess_note(prediction)}",
    )
    if prediction.loans:
        rows = [loan.row() for loan in prediction.loans]
        emit(rows, False, NUMBER_COLUMNS, "numbers that its nearest relatives lend")
    if prediction.guesses:
        rows = [guess.row() for guess in prediction.guesses]
        emit(
            rows,
            False,
            GUESS_COLUMNS,
            "numbers that are guesses: nobody measured them, or lends them",
        )


def _lender_note(row: Row) -> str | None:
    if row["copied"]:
        return f"copied, as lending does no better: {row['copied']}"
    return None if row["lent"] else "a guess moves it"


def _guess_note(prediction: Forecast) -> str:
    """Returns a remark on classes that rest on guesses. It is printed above the table, where it is
    noticed.
    """
    resting = [
        predicted_class.name
        for predicted_class in prediction.classes.values()
        if not (predicted_class.lent or predicted_class.copied)
    ]
    if not resting:
        return ""
    if len(resting) == len(prediction.classes):
        return "; all of it rests on guesses that nobody measured"
    return f"; {', '.join(resting)}: on guesses that nobody measured"


def _tenths_text(value: float) -> str:
    return f"{value:.1f}"


def _value_text(value: float, unit: str) -> str:
    return f"{value:.2f}" if unit == RATIO else f"{value:.2f} ns"


def _amount_text(amount: float, unit: str) -> str:
    """Formats an amount in the unit in which relatives agree best."""
    if unit == RATIO:
        return f"{amount:.2f}"
    return f"{amount:.2f} ns" if unit == "ns" else f"{amount:.1f} cycles of the {unit} clock"


CLASS_COLUMNS = [
    Column("class", "name", left=True, about="innermost level that contains both cores"),
    Column("ns", "ns", _tenths_text, about="median of a handoff between two such cores, predicted"),
    Column("from", "low", _tenths_text, about="lower end of the interval"),
    Column("to", "high", _tenths_text, about="upper end of the interval"),
    Column(
        "measured",
        "measured",
        lambda v: EMPTY if v is None else _tenths_text(v),
        about="ns on the real machine, if it was measured",
    ),
    Column("", lambda row: _lender_note(row), left=True),
]
NUMBER_COLUMNS = [
    Column("number", "key", left=True, about="key of the machine"),
    Column("value", lambda row: _value_text(row["value"], row["unit"]), about="predicted value"),
    Column(
        "deviation",
        "deviation",
        lambda v: f"{100 * v:.0f} %",
        about="relative uncertainty, from the differences between relatives",
    ),
    Column(
        "rule",
        lambda row: _amount_text(row["amount"], row["unit"]),
        left=True,
        about="unit in which relatives agree: a time, cycles of a clock, or a ratio",
    ),
    Column(
        "of",
        lambda row: " ".join(row["machines"]),
        left=True,
        about="machines that lend the number",
    ),
    Column(
        "related by",
        lambda row: " ".join(row["shared"]),
        left=True,
        about="words of descent that they share with this machine",
    ),
]
GUESS_COLUMNS = [
    Column("number", "key", left=True, about="key of the machine"),
    Column("value", "text", about="value in the machine file"),
    Column(
        "deviation",
        "deviation",
        lambda v: f"{100 * v:.0f} %",
        about="relative uncertainty",
    ),
    Column("by", "basis", left=True, about="origin of the uncertainty"),
    Column("source", "source", left=True, about="source that the file states"),
]
COLUMNS = [*CLASS_COLUMNS, *NUMBER_COLUMNS, *GUESS_COLUMNS]
