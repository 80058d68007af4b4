"""Judges a number by the range that a claim expects.

    reproduced        within the range
    same direction    a comparison (equal at `neutral`): the same side wins;
                      an amount: within a factor of two of the range
    not reproduced    anything else; the claim states which mechanism the model lacks
    illustration      within the range, but a number of the model was fitted to the same claim
    not run           a self-check or a guest failed, or the user interrupted the run

The judged number is the median of the seeds' answers.  `agree` counts the seeds whose answer alone
has the same verdict.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import median_low

import msgspec

from uncore_lab.claims.claim import Claim

REPRODUCED, SAME_DIRECTION, NOT_REPRODUCED = "reproduced", "same direction", "not reproduced"
ILLUSTRATION, NOT_RUN = "illustration", "not run"
VERDICTS = (REPRODUCED, SAME_DIRECTION, NOT_REPRODUCED, ILLUSTRATION, NOT_RUN)
SAME_MAGNITUDE_FACTOR = 2  # two amounts within this factor are of the same magnitude
# A ratio agrees in direction if its logarithm is between a third of and three times that of the
# claimed ratio.
MAX_EFFECT_POWER = 3


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One claim answered: the keys of `uncore claims --json`."""

    id: str
    source: str
    claim: str
    expected: tuple[float, float]
    unit: str
    got: float | None  # median of the seeds' answers
    got_min: float | None
    got_max: float | None
    seeds: int  # seeds that gave an answer
    agree: int  # seeds whose own answer has this verdict
    fitted: list[str]
    verdict: str
    reason: str


def judged_row(claim: Claim, answers: Sequence[float], failure: str = "") -> Row:
    """Judges a claim by its answers, one for each seed. If there are no answers, `failure` is the
    reason.
    """
    median_answer = median_low(answers) if answers else None
    its_verdict = NOT_RUN if median_answer is None else verdict(claim, median_answer)
    return Row(
        id=claim.id,
        source=claim.source,
        claim=claim.claim,
        expected=claim.expected.ends,
        unit=claim.unit,
        got=median_answer,
        got_min=min(answers, default=None),
        got_max=max(answers, default=None),
        seeds=len(answers),
        agree=sum(verdict(claim, answer) == its_verdict for answer in answers),
        fitted=list(claim.fitted),
        verdict=its_verdict,
        reason=claim.reason if answers else failure,
    )


def verdict(claim: Claim, answer: float) -> str:
    low, high = claim.expected.ends
    if low <= answer <= high:
        return ILLUSTRATION if claim.fitted else REPRODUCED
    if claim.neutral is None:
        agrees = low / SAME_MAGNITUDE_FACTOR <= answer <= high * SAME_MAGNITUDE_FACTOR
    else:
        agrees = _agrees_in_direction(
            answer / claim.neutral, low / claim.neutral, high / claim.neutral
        )
    return SAME_DIRECTION if agrees else NOT_REPRODUCED


def _agrees_in_direction(ratio: float, low: float, high: float) -> bool:
    """True if the ratio is on the same side of 1 as the range, and neither too close to 1 nor far
    beyond the range.
    """
    if high <= 1 and ratio > 0:
        ratio, low, high = 1 / ratio, 1 / high, 1 / low if low > 0 else float("inf")
    return (
        ratio > 0
        and low > 1
        and math.log(low) / MAX_EFFECT_POWER <= math.log(ratio) <= math.log(high) * MAX_EFFECT_POWER
    )
