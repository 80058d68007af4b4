"""Formats the numbers of claims for tables and sentences.

The interface:

    summary(rows)            the number of claims of each verdict
    verdict_counts(verdicts)  the number of subjects of each verdict
    amount(value, unit)      a value such as 12.3 ns, or a range
    over_seeds(row)          the least and the greatest answer, such as 6.2 to 19.7 x
    verdict(row)             the verdict; if seeds disagree, with the number of seeds that agree
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from uncore.drawing.formats import EMPTY
from uncore_lab.claims.verdict import VERDICTS, Row


def summary(rows: Sequence[Row]) -> str:
    """Returns the number of claims of each verdict, and how many of the claims without a fitted
    number hold.
    """
    counts = Counter(row.verdict for row in rows)
    free = [row for row in rows if not row.fitted]
    held = sum(row.verdict in VERDICTS[:2] for row in free)
    verdicts = ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS if counts[verdict])
    split = sum(row.agree < row.seeds for row in rows)
    return (
        f"{len(rows)} claims: {verdicts}; of {len(free)} with nothing fitted, {held} hold;"
        f" {split} verdicts differ between seeds"
    )


def verdict_counts(verdicts: Sequence[str]) -> str:
    counts = ", ".join(f"{count} {word}" for word, count in Counter(verdicts).most_common())
    return f"{len(verdicts)} subjects: {counts}"


def over_seeds(row: Row) -> str:
    """Formats the least and the greatest answer; empty if all seeds answer alike."""
    if row.got_min is None or row.got_min == row.got_max:
        return EMPTY
    return f"{_number(row.got_min)} to {amount(row.got_max, row.unit)}"


def verdict(row: Row) -> str:
    if row.agree == row.seeds:
        return row.verdict
    return f"{row.verdict}, {row.agree} of {row.seeds} seeds"


def amount(value: Any, unit: str) -> str:
    if value is None:
        return EMPTY
    if isinstance(value, list | tuple):
        low, high = value
        text = _number(low) if low == high else f"{_number(low)} to {_number(high)}"
    else:
        text = _number(value)
    return f"{text} {unit}".rstrip()


def _number(value: float) -> str:
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"
