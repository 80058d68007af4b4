"""Reads and writes the answers on file, validation/results/claims.csv.

The interface:

    table(rows, keep_others)    the table that `uncore claims --renew` writes
    rows(claims)                claims with the answers of the last `--renew`
    subject_rows()              every subject of the articles, with its verdict
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from uncore_lab.claims.claim import Claim
from uncore_lab.claims.collection import Subject, load, subjects, unasked
from uncore_lab.claims.verdict import (
    ILLUSTRATION,
    NOT_REPRODUCED,
    NOT_RUN,
    REPRODUCED,
    SAME_DIRECTION,
    Row,
)
from uncore_lab.results import table as files

TABLE_NAME = "claims"
NOT_ASKED = "not asked"  # verdict of a figure that no run can show
WORST_FIRST = (NOT_RUN, NOT_REPRODUCED, SAME_DIRECTION, ILLUSTRATION, REPRODUCED)


def table(rows: Sequence[Row], *, keep_others: bool = False) -> files.Table:
    """Returns a table of the rows. With `keep_others`, it also has the rows on file of all other
    claims.
    """
    new_lines = {row.id: _line(row) for row in rows}
    lines_on_file = {line["claim"]: line for line in files.load(TABLE_NAME)} if keep_others else {}
    lines: dict[str, Mapping[str, object]] = {**lines_on_file, **new_lines}
    return files.Table(TABLE_NAME, ("claim",), [dict(lines[name]) for name in sorted(lines)])


def _line(row: Row) -> dict[str, object]:
    return {
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


def rows(claims: Sequence[Claim]) -> list[Row]:
    """Returns the claims with their answers and verdicts on file."""
    lines = {line["claim"]: line for line in files.load(TABLE_NAME)}
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


def subject_rows() -> list[dict[str, str]]:
    """Returns each subject with its verdict: the worst verdict of its claims, or the verdict that
    subjects.csv states.
    """
    answered = {row.id: row for row in rows(load())}
    reasons = {str(number): why for numbers, _, why in unasked() for number in numbers}
    return [_subject_row(subject, answered, reasons) for subject in subjects()]


def _subject_row(
    subject: Subject, answered: Mapping[str, Row], reasons: Mapping[str, str]
) -> dict[str, str]:
    claims = [answered[name] for name in subject.claims.split()]
    worst_verdict = min((row.verdict for row in claims), key=WORST_FIRST.index, default=NOT_ASKED)
    command = f"claims {subject.claims}" if claims else subject.command
    return {
        "row": subject.row,
        "article": subject.article,
        "what": subject.what,
        "verdict": subject.verdict or worst_verdict,
        "fitted": ", ".join(dict.fromkeys(name for row in claims for name in row.fitted)),
        "command": command and f"uncore {command}",
        "source": "; ".join(row.source for row in claims),
        "note": subject.note
        or "; ".join(row.reason for row in claims if row.reason)
        or reasons.get(subject.unasked, ""),
    }
