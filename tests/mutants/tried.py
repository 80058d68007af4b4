"""Reads and writes tried.csv, which has a line with the last result of each mutant.

read() -> {name: LastTrial}
note(name, outcome, by)     replaces a mutant's line
table(mutants) -> lines     for each area: how many mutants there are, how many of them were
                            tried, how many were detected, and when
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields
from datetime import date
from pathlib import Path

from tests.mutants.mutant_list import Mutant
from tests.mutants.trial import NOTICED

FILE = Path(__file__).with_name("tried.csv")


@dataclass(frozen=True)
class LastTrial:
    mutant: str
    date: str
    outcome: str
    by: str  # the test that detected the mutant


def read() -> dict[str, LastTrial]:
    with FILE.open(newline="") as file:
        return {row["mutant"]: LastTrial(**row) for row in csv.DictReader(file)}


def note(name: str, outcome: str, by: str) -> None:
    records = read() | {name: LastTrial(name, date.today().isoformat(), outcome, by)}
    with FILE.open("w", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(field.name for field in fields(LastTrial))
        rows.writerows(astuple(records[name]) for name in sorted(records))


def table(mutants: Sequence[Mutant]) -> list[str]:
    """Returns the lines of the table by area, without equivalent mutants."""
    records, counted = read(), [mutant for mutant in mutants if not mutant.equivalent]
    lines = [f"{'area':<12} {'mutants':>8} {'tried':>6} {'noticed':>8} {'%':>4}  when"]
    for area in [*dict.fromkeys(mutant.area for mutant in counted), "all"]:
        of_area = [mutant for mutant in counted if area in (mutant.area, "all")]
        tried = [records[mutant.name] for mutant in of_area if mutant.name in records]
        noticed = sum(record.outcome == NOTICED for record in tried)
        share = f"{100 * noticed / len(tried):.0f}" if tried else "-"
        days = sorted({record.date for record in tried})
        when = " to ".join(dict.fromkeys((days[0], days[-1]))) if days else "never"
        lines.append(
            f"{area:<12} {len(of_area):>8} {len(tried):>6} {noticed:>8} {share:>4}  {when}"
        )
    return lines
