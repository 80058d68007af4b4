"""Makes the page of claims: each with its verdict and reason, and figures that are not tested.

page() -> Markdown, from validation/results/claims.csv
"""

from __future__ import annotations

from collections.abc import Sequence

from docs.site import markdown

from uncore_lab.claims import filed
from uncore_lab.claims.claim import Claim
from uncore_lab.claims.collection import figures, load, unasked
from uncore_lab.claims.verdict import REPRODUCED, Row
from uncore_lab.claims.wording import amount, over_seeds, summary, verdict

HEAD = """# Claims

This page compares measurements and claims of articles with the simulator; `uncore claims` runs the
comparison again. Each claim is a function of `validation/uncore_lab/claims/articles/` that you can
read, dispute and run (`uncore claims ID`). The answer of the simulator is the median over seeds;
beside it stand the smallest and the largest answer. The verdict is that of the median; if seeds
differ, it says how many agree. The reasons for the width of each range stand below.

* **reproduced**: the answer is within the range.
* **same direction**: the same side wins a comparison, with an effect between a third of the claimed
  one and three times it (as logarithms); or an amount is within a factor of two.
* **not reproduced**: none of these; the mechanism that the model lacks is named.
* **illustration**: the answer is within the range, but a number was fitted to the claim.
"""
NO_EXPERIMENTS = "## Figures that are no experiments\n"
FIGURES = "## All figures that the articles state\n"


def page() -> str:
    claims = load()
    rows = filed.rows(claims)
    parts = [HEAD, f"{summary(rows)}.\n", _table(rows), _reasons(rows), _sources(claims)]
    return "\n".join([*parts, NO_EXPERIMENTS, _unasked(), FIGURES, _figures()])


def _table(rows: Sequence[Row]) -> str:
    lines = [
        (
            f"`{row.id}`",
            row.claim,
            amount(row.expected, row.unit),
            amount(row.got, row.unit),
            over_seeds(row),
            verdict(row),
        )
        for row in rows
    ]
    heads = ("claim", "what is claimed", "expected", "got", "over seeds", "verdict")
    return markdown.grid(heads, lines, [True] * 6)


def _reasons(rows: Sequence[Row]) -> str:
    lines = []
    for row in rows:
        fitted = f" Fitted: {', '.join(row.fitted)}." if row.fitted else ""
        if row.verdict != REPRODUCED or fitted or row.reason:
            lines.append(f"`{row.id}` ({row.verdict}): {row.reason or 'no reason given.'}{fitted}")
    return "## Why\n\n" + markdown.bullets(lines)


def _sources(claims: Sequence[Claim]) -> str:
    lines = []
    for claim in claims:
        figures = f" (figures {_numbers(claim.figures)})" if claim.figures else ""
        lines.append(f"`{claim.id}`: {claim.source}{figures}. Range: {claim.expected.why}")
    return "## Where it was claimed\n\n" + markdown.bullets(lines)


def _unasked() -> str:
    lines = [(_numbers(figures), what, why) for figures, what, why in unasked()]
    heads = ("figures", "what", "why the simulator is not asked")
    return markdown.grid(heads, lines, [True] * 3)


def _figures() -> str:
    lines = [
        (
            str(number),
            f"{figure.article}, {figure.where}",
            figure.quantity,
            f"{figure.value} {figure.unit}",
        )
        for number, figure in figures().items()
    ]
    return markdown.grid(("figure", "article", "quantity", "value"), lines, [False] + [True] * 3)


def _numbers(figures: Sequence[int]) -> str:
    """Formats numbers with ranges: 1, 2, 3, 7 -> "1-3, 7"."""
    spans: list[list[int]] = []
    for number in sorted(figures):
        if spans and number == spans[-1][-1] + 1:
            spans[-1][1:] = [number]
        else:
            spans.append([number])
    return ", ".join("-".join(map(str, span)) for span in spans)
