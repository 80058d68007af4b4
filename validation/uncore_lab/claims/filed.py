"""The answers on file, validation/results/claims.csv.

table(rows)      what `uncore claims --renew` writes
rows(claims)     what it has written
"""

from __future__ import annotations

from collections.abc import Sequence

from uncore_lab.claims.claim import Claim
from uncore_lab.claims.verdict import Row
from uncore_lab.results import table as files

NAME = "claims"


def table(rows: Sequence[Row]) -> files.Table:
    return files.Table(
        NAME,
        ("claim",),
        [
            {
                "claim": row.id,
                "from": row.expected[0],
                "to": row.expected[1],
                "unit": row.unit,
                "got": row.got,
                "got_min": row.got_min,
                "got_max": row.got_max,
                "verdict": row.verdict,
                "seeds": row.seeds,
                "agree": row.agree,
            }
            for row in rows
        ],
    )


def rows(claims: Sequence[Claim]) -> list[Row]:
    """The claims with their answers on file, and their verdicts at that time."""
    lines = {line["claim"]: line for line in files.load(NAME)}
    return [_row(claim, lines[claim.id]) for claim in claims]


def _row(claim: Claim, line: files.Line) -> Row:
    return Row(
        id=claim.id,
        source=claim.source,
        claim=claim.claim,
        expected=claim.expected.ends,
        unit=claim.unit,
        got=float(line["got"]),
        got_min=float(line["got_min"]),
        got_max=float(line["got_max"]),
        seeds=int(line["seeds"]),
        agree=int(line["agree"]),
        fitted=list(claim.fitted),
        verdict=line["verdict"],
        reason=claim.reason,
    )
