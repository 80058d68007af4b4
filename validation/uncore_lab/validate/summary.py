"""Prints the bars of all experiments, and the figures that differ from validation/results.

show(sections)      bars(sections) -> the table of bars.csv
"""

from __future__ import annotations

from collections.abc import Sequence

from uncore.drawing.table import emit, say
from uncore.support.paths import CHECKOUT
from uncore_lab.results.table import Table, differences
from uncore_lab.validate import bar
from uncore_lab.validate.section import Section

RENEW = "uncore validate --all --renew"
MAX_CHANGES_SHOWN = 20  # further changed figures are only counted


def show(sections: Sequence[Section]) -> None:
    emit(bars(sections).rows, False, bar.COLUMNS, "Simulated against measured")
    for section in sections:
        figures = sum(len(table.rows) for table in section.tables) or len(section.rows)
        say(f"{figures:5} figures: uncore validate --only {section.name}")
    for line in _differences(sections) if CHECKOUT else ():
        say(line)


def bars(sections: Sequence[Section]) -> Table:
    rows = [row for section in sections for row in bar.rows(section.name, section.bars)]
    return Table("bars", ("experiment", "bar"), rows)


def _differences(sections: Sequence[Section]) -> list[str]:
    tables = [table for section in sections for table in section.tables] + [bars(sections)]
    messages = [line for table in tables for line in differences(table, whole=True)]
    if not messages:
        return ["Every figure is as it is in validation/results."]
    more_note = (
        [f"... and {len(messages) - MAX_CHANGES_SHOWN} more"]
        if len(messages) > MAX_CHANGES_SHOWN
        else []
    )
    return [
        *messages[:MAX_CHANGES_SHOWN],
        *more_note,
        f"{len(messages)} figures moved; {RENEW} writes them anew",
    ]
