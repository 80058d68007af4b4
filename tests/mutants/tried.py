"""Reads and writes tried.csv, which has a line with the last result of each mutant.

read() -> {name: Last}
note(name, outcome, by)     replaces a mutant's line
table(mutants) -> lines     by area: how many mutants there are, how many of them were tried and
                            noticed, and when
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
class Last:
    mutant: str
    date: str
    outcome: str
    by: str  # the test that noticed the mutant


def read() -> dict[str, Last]:
    with FILE.open(newline="") as file:
        return {row["mutant"]: Last(**row) for row in csv.DictReader(file)}


def note(name: str, outcome: str, by: str) -> None:
    known = read() | {name: Last(name, date.today().isoformat(), outcome, by)}
    with FILE.open("w", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(field.name for field in fields(Last))
        rows.writerows(astuple(known[name]) for name in sorted(known))


def table(mutants: Sequence[Mutant]) -> list[str]:
    """Returns the lines of the table by area, without equivalent mutants."""
    last, real = read(), [mutant for mutant in mutants if not mutant.equivalent]
    lines = [f"{'area':<12} {'mutants':>8} {'tried':>6} {'noticed':>8} {'%':>4}  when"]
    for area in [*dict.fromkeys(mutant.area for mutant in real), "all"]:
        here = [mutant for mutant in real if area in (mutant.area, "all")]
        tried = [last[mutant.name] for mutant in here if mutant.name in last]
        noticed = sum(one.outcome == NOTICED for one in tried)
        share = f"{100 * noticed / len(tried):.0f}" if tried else "-"
        days = sorted({one.date for one in tried})
        when = " to ".join(dict.fromkeys((days[0], days[-1]))) if days else "never"
        lines.append(f"{area:<12} {len(here):>8} {len(tried):>6} {noticed:>8} {share:>4}  {when}")
    return lines
