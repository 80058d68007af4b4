"""A number against the range that was claimed.

reproduced       within the range
same direction   a comparison (`neutral` says where neither side wins): won by the same side;
                 an amount: within a factor of two of the range
not reproduced   neither; the claim says which mechanism the model lacks
illustration     within the range, but a number of the model was fitted to this very claim
not run          a self-check or a guest failed, or the user interrupted
"""

from __future__ import annotations

import math

import msgspec

from uncore_lab.claims.claim import Claim

REPRODUCED, SAME, NOT_REPRODUCED = "reproduced", "same direction", "not reproduced"
ILLUSTRATION, NOT_RUN = "illustration", "not run"
VERDICTS = (REPRODUCED, SAME, NOT_REPRODUCED, ILLUSTRATION, NOT_RUN)
FACTOR = 2  # amounts that differ by less are of the same magnitude
EFFECT = 3  # powers of an effect: 1.5 is the square root of 2.25, and of its direction


class Row(msgspec.Struct, frozen=True):
    """One claim answered: the keys of `uncore claims --json`."""

    id: str
    source: str
    claim: str
    expected: tuple[float, float]
    unit: str
    got: float | None
    fitted: list[str]
    verdict: str
    reason: str


def judge(claim: Claim, got: float | None, failure: str = "") -> Row:
    """`got` is None where nothing came of it; `failure` says why."""
    return Row(
        id=claim.id,
        source=claim.source,
        claim=claim.claim,
        expected=claim.expected,
        unit=claim.unit,
        got=got,
        fitted=list(claim.fitted),
        verdict=NOT_RUN if got is None else verdict(claim, got),
        reason=failure or ("" if got is None else claim.reason),
    )


def verdict(claim: Claim, got: float) -> str:
    low, high = claim.expected
    if low <= got <= high:
        return ILLUSTRATION if claim.fitted else REPRODUCED
    if claim.neutral is None:
        near = low / FACTOR <= got <= high * FACTOR
    else:
        near = _like(got / claim.neutral, low / claim.neutral, high / claim.neutral)
    return SAME if near else NOT_REPRODUCED


def _like(got: float, low: float, high: float) -> bool:
    """Whether a ratio lies on the range's side of 1, neither next to it nor far beyond."""
    if high <= 1 and got > 0:
        got, low, high = 1 / got, 1 / high, 1 / low if low > 0 else float("inf")
    return (
        got > 0 and low > 1 and math.log(low) / EFFECT <= math.log(got) <= math.log(high) * EFFECT
    )
