"""Numbers of claims as people read them.

summary(rows)            how many of each verdict
amount(value, unit)      12.3 ns, or a range of them
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from uncore.drawing.formats import EMPTY
from uncore_lab.claims.verdict import VERDICTS, Row


def summary(rows: Sequence[Row]) -> str:
    """How many of each verdict, and how many without a fitted number."""
    counts = Counter(row.verdict for row in rows)
    free = [row for row in rows if not row.fitted]
    held = sum(row.verdict in VERDICTS[:2] for row in free)
    verdicts = ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS if counts[verdict])
    return f"{len(rows)} claims: {verdicts}; of {len(free)} with nothing fitted, {held} hold"


def amount(value: Any, unit: str) -> str:
    if value is None:
        return EMPTY
    if isinstance(value, list | tuple):
        low, high = value
        text = f"{low:g}" if low == high else f"{low:g} to {high:g}"
    else:
        text = f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"
    return f"{text} {unit}".rstrip()
