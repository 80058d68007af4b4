"""Compares the scores of predictions, made with machines left out, with those of null models.

    judged(rows) -> [Judged]     one for each way to leave machines out, for x86 and other machines
    copied(rows) -> [Judged]     kinds of classes that a null model predicts at least as well
    rules(rows)                  the same kinds as rules for `predict`

A null model gives a number without an interval.  For a fair score it gets the interval of a
log-normal distribution, as wide as the null model's typical error on the other machines of the
group.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import log, pi, sqrt
from statistics import fmean, median
from typing import Any

from uncore.drawing.table import Row
from uncore_lab.predict.mixture import log_normal
from uncore_lab.predict.nulls import MODEL_FREE, kind_without_side

MIN_KIND_CLASSES = 5  # least number of classes with which a kind is judged separately
# ratio of the standard deviation to the mean absolute error, for a normal variable
DEVIATION_OVER_MEAN_ERROR = sqrt(pi / 2)


@dataclass(frozen=True)
class Judged:
    """The scores of a group of classes. Only classes for which all three null models have a value
    are counted.
    """

    left_out: str
    group: str  # "x86" or "others"
    classes: int
    inside_pct: float
    error_pct: float  # mean
    median_pct: float
    score: float  # mean CRPS of logarithms
    nulls: dict[str, float]  # mean CRPS of each null model
    errors: dict[str, float]  # mean error of each null model in per cent
    # standard deviation of ln(measured / guess) for each null model
    deviations: dict[str, float]

    @property
    def best(self) -> str:
        """The null model that scores best."""
        return min(self.nulls, key=lambda null: self.nulls[null])

    @property
    def beats_all(self) -> bool:
        return self.score < self.nulls[self.best]

    def row(self) -> dict[str, Any]:
        return {
            "left_out": self.left_out,
            "of": self.group,
            "classes": self.classes,
            "inside_pct": round(self.inside_pct, 1),
            "error_pct": round(self.error_pct, 1),
            "median_pct": round(self.median_pct, 1),
            "score": round(self.score, 4),
            **{f"{null}_score": round(score, 4) for null, score in self.nulls.items()},
            **{f"{null}_error_pct": round(error, 1) for null, error in self.errors.items()},
        }


def judged(rows: Sequence[Row]) -> list[Judged]:
    groups = {
        (left_out, side): [r for r in rows if r["left_out"] == left_out and side == _side(r)]
        for left_out in dict.fromkeys(row["left_out"] for row in rows)
        for side in SIDES
    }
    judgements = (_judge(left_out, side, own_rows) for (left_out, side), own_rows in groups.items())
    return [judgement for judgement in judgements if judgement]


def copied(rows: Sequence[Row]) -> list[Judged]:
    """Returns the kinds with enough classes whose predictions do not beat every null model."""
    kinds: dict[tuple[str, str, str], list[Row]] = {}
    for row in rows:
        kinds.setdefault((_side(row), row["left_out"], kind_without_side(row["kind"])), []).append(
            row
        )
    judgements = (
        _judge(f"{left_out} {kind}", side, own_rows)
        for (side, left_out, kind), own_rows in kinds.items()
    )
    return [
        judgement
        for judgement in judgements
        if judgement and judgement.classes >= MIN_KIND_CLASSES and not judgement.beats_all
    ]


def rules(rows: Sequence[Row]) -> dict[str, tuple[str, float]]:
    """Returns the rules of predict/copied.toml: for each kind that `copied` returns, the best null
    model and its deviation.
    """
    return {
        f"{judgement.group} {judgement.left_out}": (
            judgement.best,
            round(judgement.deviations[judgement.best], 2),
        )
        for judgement in copied(rows)
    }


SIDES = ("x86", "others")


def _side(row: Row) -> str:
    return "x86" if row["x86"] else "others"


def _judge(left_out: str, side: str, rows: Sequence[Row]) -> Judged | None:
    comparable_rows = [
        row for row in rows if all(row[f"{null}_pct"] is not None for null in MODEL_FREE)
    ]
    if not comparable_rows:
        return None
    errors = [abs(row["error_pct"]) for row in comparable_rows]
    return Judged(
        left_out=left_out,
        group=side,
        classes=len(comparable_rows),
        inside_pct=100 * fmean(bool(row["inside"]) for row in comparable_rows),
        error_pct=fmean(errors),
        median_pct=median(errors),
        score=fmean(row["score"] for row in comparable_rows),
        nulls={null: fmean(_scores_with_interval(null, comparable_rows)) for null in MODEL_FREE},
        errors={
            null: fmean(abs(row[f"{null}_pct"]) for row in comparable_rows) for null in MODEL_FREE
        },
        deviations={
            null: DEVIATION_OVER_MEAN_ERROR
            * fmean(_log_error(null, row) for row in comparable_rows)
            for null in MODEL_FREE
        },
    )


def _scores_with_interval(null: str, rows: Sequence[Row]) -> Iterable[float]:
    """Yields the null model's score for each row. Its distribution is as wide as its error on other
    machines.
    """
    for row in rows:
        other_errors = [
            _log_error(null, other_row)
            for other_row in rows
            if other_row["machine"] != row["machine"]
        ]
        deviation = DEVIATION_OVER_MEAN_ERROR * fmean(other_errors) if other_errors else 1.0
        guess = row["measured_ns"] * (1 + row[f"{null}_pct"] / 100)
        yield log_normal(guess, max(deviation, 0.01)).crps(row["measured_ns"])


def _log_error(null: str, row: Row) -> float:
    return abs(log(1 + row[f"{null}_pct"] / 100))
