"""docs/claims.md: every claim with its verdict, why, and which figures are no experiments.

Interface: `write(path, claims, rows)`, `summary(rows)`, `amount(value, unit)`; `stated(text)` reads
back what a page says was claimed, so that a test can compare a page with the files it came from.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from uncore.drawing.formats import EMPTY
from uncore.errors import UserError
from uncore_lab.claims.claim import Claim
from uncore_lab.claims.collection import unasked
from uncore_lab.claims.verdict import REPRODUCED, VERDICTS, Row

HEAD = """# Claims

What articles measured and claimed, asked of the simulator. This page is written by
`uncore claims --page docs/claims.md`; change `validation/uncore_lab/claims/articles/`, where each
claim is a function that anyone can read, dispute and run (`uncore claims ID`). Expected ranges come
from the article's own number.

* **reproduced**: within the range.
* **same direction**: a comparison won by the same side, by a third of the claimed effect at least
  and three times it at most (as logarithms); or an amount within a factor of two.
* **not reproduced**: neither, with the mechanism that the model lacks.
* **illustration**: within the range, but a number was fitted to the claim.
"""


def write(path: Path, claims: Sequence[Claim], rows: Sequence[Row]) -> None:
    try:
        path.write_text(page(claims, rows))
    except OSError as error:
        raise UserError(f"{path}: cannot write the page: {error.strerror}") from None


def page(claims: Sequence[Claim], rows: Sequence[Row]) -> str:
    """The whole text."""
    parts = [HEAD, f"{summary(rows)}.\n", _table(rows), _reasons(rows), _sources(claims), _rest()]
    return "\n".join(parts)


def summary(rows: Sequence[Row]) -> str:
    """How many of each verdict, and how many without a fitted number."""
    counts = Counter(row.verdict for row in rows)
    free = [row for row in rows if not row.fitted]
    held = sum(row.verdict in VERDICTS[:2] for row in free)
    said = ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS if counts[verdict])
    return f"{len(rows)} claims: {said}; of {len(free)} with nothing fitted, {held} hold"


def _table(rows: Sequence[Row]) -> str:
    lines = ["| claim | what is claimed | expected | got | verdict |", "|---|---|---|---|---|"]
    lines += [
        f"| `{row.id}` | {row.claim} | {amount(row.expected, row.unit)}"
        f" | {amount(row.got, row.unit)} | {row.verdict} |"
        for row in rows
    ]
    return "\n".join(lines) + "\n"


_ROW = re.compile(r"^\| `([\w-]+)` \| (.*?) \| (.*?) \| .*? \| [\w ]+ \|$", re.MULTILINE)


def stated(text: str) -> dict[str, tuple[str, str]]:
    """id -> (what is claimed, expected), as the page has them."""
    return {match[1]: (match[2], match[3]) for match in _ROW.finditer(text)}


def _reasons(rows: Sequence[Row]) -> str:
    lines = ["## Why\n"]
    for row in rows:
        fitted = f" Fitted: {', '.join(row.fitted)}." if row.fitted else ""
        if row.verdict != REPRODUCED or fitted or row.reason:
            lines.append(
                f"* `{row.id}` ({row.verdict}): {row.reason or 'no reason given.'}{fitted}"
            )
    return "\n".join(lines) + "\n"


def _sources(claims: Sequence[Claim]) -> str:
    lines = ["## Where it was claimed\n"]
    for claim in claims:
        figures = f" (figures {_numbers(claim.figures)})" if claim.figures else ""
        lines.append(f"* `{claim.id}`: {claim.source}{figures}")
    return "\n".join(lines) + "\n"


def _rest() -> str:
    lines = [
        "## Figures that are no experiments\n",
        "Numbers are those of the list of all 184 figures that the articles state.\n",
        "| figures | what | why the simulator is not asked |",
        "|---|---|---|",
    ]
    lines += [f"| {_numbers(figures)} | {what} | {why} |" for figures, what, why in unasked()]
    return "\n".join(lines) + "\n"


def _numbers(figures: Sequence[int]) -> str:
    """1, 2, 3, 7 -> "1-3, 7"."""
    spans: list[list[int]] = []
    for number in sorted(figures):
        if spans and number == spans[-1][-1] + 1:
            spans[-1][1:] = [number]
        else:
            spans.append([number])
    return ", ".join("-".join(map(str, span)) for span in spans)


def amount(value: Any, unit: str) -> str:
    """12.3 ns, or a range of them."""
    if value is None:
        return EMPTY
    if isinstance(value, list | tuple):
        low, high = value
        text = f"{low:g}" if low == high else f"{low:g} to {high:g}"
    else:
        text = f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"
    return f"{text} {unit}".rstrip()
