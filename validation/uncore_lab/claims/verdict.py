"""A number against the range that was claimed.

reproduced       within the range
same direction   a comparison (at `neutral` neither side wins): won by the same side;
                 an amount: within a factor of two of the range
not reproduced   neither; the claim says which mechanism the model lacks
illustration     within the range, but a number of the model was fitted to this very claim
not run          a self-check or a guest failed, or the user interrupted

The number is the median of the seeds' answers, and the verdict is the median's.  `agree` counts
the seeds whose own answer has that verdict.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import median_low

import msgspec

from uncore_lab.claims.claim import Claim

REPRODUCED, SAME, NOT_REPRODUCED = "reproduced", "same direction", "not reproduced"
ILLUSTRATION, NOT_RUN = "illustration", "not run"
VERDICTS = (REPRODUCED, SAME, NOT_REPRODUCED, ILLUSTRATION, NOT_RUN)
SAME_MAGNITUDE_FACTOR = 2  # amounts that differ by less are of the same magnitude
MAX_EFFECT_POWER = 3  # powers of an effect: 1.5 is the square root of 2.25, and of its direction


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One claim answered: the keys of `uncore claims --json`."""

    id: str
    source: str
    claim: str
    expected: tuple[float, float]
    unit: str
    got: float | None  # median of the answers over seeds
    got_min: float | None
    got_max: float | None
    seeds: int  # number of seeds that answered
    agree: int  # of them with this verdict
    fitted: list[str]
    verdict: str
    reason: str


def judge(claim: Claim, answers: Sequence[float], failure: str = "") -> Row:
    """Judges a claim by its `answers`, one per seed; none: `failure` is the reason."""
    got = median_low(answers) if answers else None
    found = NOT_RUN if got is None else verdict(claim, got)
    return Row(
        id=claim.id,
        source=claim.source,
        claim=claim.claim,
        expected=claim.expected.ends,
        unit=claim.unit,
        got=got,
        got_min=min(answers, default=None),
        got_max=max(answers, default=None),
        seeds=len(answers),
        agree=sum(verdict(claim, answer) == found for answer in answers),
        fitted=list(claim.fitted),
        verdict=found,
        reason=claim.reason if answers else failure,
    )


def verdict(claim: Claim, got: float) -> str:
    low, high = claim.expected.ends
    if low <= got <= high:
        return ILLUSTRATION if claim.fitted else REPRODUCED
    if claim.neutral is None:
        near = low / SAME_MAGNITUDE_FACTOR <= got <= high * SAME_MAGNITUDE_FACTOR
    else:
        near = _like(got / claim.neutral, low / claim.neutral, high / claim.neutral)
    return SAME if near else NOT_REPRODUCED


def _like(got: float, low: float, high: float) -> bool:
    """True if a ratio lies on the range's side of 1, neither next to it nor far beyond."""
    if high <= 1 and got > 0:
        got, low, high = 1 / got, 1 / high, 1 / low if low > 0 else float("inf")
    return (
        got > 0
        and low > 1
        and math.log(low) / MAX_EFFECT_POWER <= math.log(got) <= math.log(high) * MAX_EFFECT_POWER
    )
