"""Writes a machine file with the lent numbers of a prediction, each with its interval.

machine_file(prediction, name, output) -> text of a file that loads
"""

from __future__ import annotations

from pathlib import Path

from uncore import topology
from uncore_lab.fitting.numbers import RATIO, lendable_numbers_of
from uncore_lab.fitting.written import entry, extends, tables
from uncore_lab.predict.forecast import INTERVAL_SHARE, Forecast

PREDICTED_HEAD = """\
# Written by `uncore predict`: numbers that relatives of this machine lend it; an interval should
# hold the true number with {share:.0%} (docs/prediction.md).

extends = "{extends}"
name    = "{name}"
"""


def machine_file(prediction: Forecast, name: str, output: Path) -> str:
    free_numbers, entries = lendable_numbers_of(name), dict[str, str]()
    for loan in prediction.loans:
        number = free_numbers[loan.key]
        value, low, high = (
            [word.partition("=") for word in number.settings(amount)]
            for amount in (loan.belief.median, *loan.belief.interval(INTERVAL_SHARE))
        )
        source = f"predicted: the median of {', '.join(loan.machines)}"
        for (key, _, text), (_, _, low_text), (_, _, high_text) in zip(
            value, low, high, strict=True
        ):
            written = text if number.unit == RATIO else f'"{text}"'
            entries[key] = entry(written, (low_text, high_text), source)
    head = PREDICTED_HEAD.format(
        share=INTERVAL_SHARE, extends=extends(name, output), name=topology.load(name).name
    )
    return f"{head}\n{tables(entries)}"
