"""Analyses how a run scales with its thread count: speed-ups, serial fraction, and a scaling law.

    scaling = analyse(result)     raises UserError if the thread counts do not suffice
    scaling.rows                  one Row for each measured point
    scaling.law                   the Universal Scalability Law fitted to the points; None if there
                                  are too few
    scaling.law.predict(n)        the throughput that the law predicts, with its standard error

Speed-up has three senses (Culler, Singh and Gupta, Parallel Computer Architecture, 1999): the same
problem in less time, more work in the same time, and more work per time when the problem grows with
the machine.  The points of a run have equal work, equal time, or neither; `held` says which.  That
kind of speed-up is measured directly; the others are computed from the rate of each point.

Serial fraction: throughput per thread, relative to one thread, is 1 for perfect scaling and 1/n if
all work is serialised.  The position between the two is the serial fraction (Karp and Flatt,
Measuring Parallel Processor Performance, 1990); it exceeds 1 if n threads are slower than one.

The law (Gunther, Guerrilla Capacity Planning, 2007):

    X(n) = lambda n / (1 + sigma (n - 1) + kappa n (n - 1))

n / X is a polynomial in n, so the fit is linear least squares on relative errors, with no
coefficient below 0.  A point is the median of its repeats, which has little noise: standard errors
therefore say how far the points are from following such a law.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from uncore.errors import UserError
from uncore.result.repeats import Repeats, repeats
from uncore.result.schema import Point, Result

HELD_TOLERANCE = 0.02  # relative difference up to which work or time counts as constant


class Row(msgspec.Struct, frozen=True):
    """One measured point, compared with the point of one thread."""

    threads: int
    throughput: float  # operations a second
    throughput_min: float | None  # smallest throughput of its repeats; None for one run
    throughput_max: float | None
    speedup_problem: float  # Time(1) / Time(n), same work
    speedup_time: float  # Work(n) / Work(1), same time
    speedup_memory: float  # increase in work / increase in time
    per_thread: float  # throughput per thread, relative to one thread alone
    all_serial: float  # per_thread if nothing ran in parallel: 1/n
    # serial fraction of Karp and Flatt: 0 if per_thread is 1, and 1 if it is 1/n; None for one
    # thread
    serial_fraction: float | None


class Prediction(msgspec.Struct, frozen=True):
    """Throughput that the law predicts; `measured` is False for thread counts that did not run."""

    threads: int
    throughput: float
    error: float | None  # standard error; None if there are no more points than coefficients
    measured: bool


class Law(msgspec.Struct, frozen=True):
    """X(n) = scale n / (1 + contention (n - 1) + coherence n (n - 1)), with standard errors."""

    scale: float  # lambda: operations a second of one thread
    contention: float  # sigma: serialised share
    coherence: float  # kappa: cost of each pair of threads
    scale_error: float | None
    contention_error: float | None
    coherence_error: float | None
    worst: float  # largest relative error at a measured point
    covariance: list[list[float]] | None  # covariance of 1/scale, contention/scale, coherence/scale

    @property
    def peak(self) -> float | None:
        """Returns the thread count of greatest throughput; None if throughput only grows."""
        if self.coherence <= 0:
            return None
        return max(1.0, float(np.sqrt(max(1 - self.contention, 0) / self.coherence)))

    def predict(self, threads: int, *, measured: bool = False) -> Prediction:
        terms = _terms(np.array([threads]))[0]
        time = float(terms @ [1, self.contention, self.coherence]) / self.scale
        throughput = threads / time
        error = None
        if self.covariance is not None:
            error = throughput / time * float(np.sqrt(terms @ self.covariance @ terms))
        return Prediction(threads, throughput, error, measured)


class Scaling(msgspec.Struct, frozen=True):
    """The scaling of a result, as `uncore scaling` shows it."""

    machine: str
    workload: str
    held: str  # "work" or "time" if equal at all points, else ""
    seeds: list[int]  # seeds of the repeats
    rows: list[Row]
    law: Law | None
    predictions: list[Prediction]


def analyse(result: Result, beyond: int = 2) -> Scaling:
    """Analyses a result. Also predicts throughput at the largest thread count doubled 1 to `beyond`
    times.
    """
    counts = sorted(repeats(result), key=lambda same_count: same_count.threads)
    by_threads = {same_count.threads: same_count for same_count in counts}
    points = [same_count.median for same_count in counts if same_count.median.throughput]
    if len(points) < 2 or points[0].threads != 1:
        measured = ", ".join(str(p.threads) for p in points) or "none"
        raise UserError(
            f"the result's thread counts are {measured}: scaling is measured against one thread;"
            " write --threads 1,2,4..128"
        )
    rates = np.array([by_threads[point.threads].rate for point in points])
    law = fit([p.threads for p in points], rates)
    max_threads = points[-1].threads
    predicted_counts = [(p.threads, True) for p in points]
    predicted_counts += [(max_threads << doubling, False) for doubling in range(1, beyond + 1)]
    return Scaling(
        machine=result.job["machine"]["id"],
        workload=result.job["program"]["name"],
        held=_held(points),
        seeds=result.job.get("seeds", []),
        rows=[_row(by_threads[p.threads], by_threads[1]) for p in points],
        law=law,
        predictions=[law.predict(n, measured=measured) for n, measured in predicted_counts]
        if law
        else [],
    )


def _held(points: Sequence[Point]) -> str:
    """Returns `work` or `time`, whichever was equal at all points; else ""."""
    for name, values in (
        ("work", [p.ops for p in points]),
        ("time", [p.elapsed_ps for p in points]),
    ):
        if max(values) <= min(values) * (1 + HELD_TOLERANCE):
            return name
    return ""


def _row(same_count: Repeats, one_thread: Repeats) -> Row:
    point, single_thread, n = same_count.median, one_thread.median, same_count.threads
    speedup = same_count.rate / one_thread.rate
    held = _held([point, single_thread])
    share = speedup / n
    return Row(
        threads=n,
        throughput=same_count.rate,
        throughput_min=same_count.ends[0],
        throughput_max=same_count.ends[1],
        speedup_problem=single_thread.elapsed_ps / point.elapsed_ps if held == "work" else speedup,
        speedup_time=point.ops / single_thread.ops if held == "time" else speedup,
        speedup_memory=speedup,
        per_thread=share,
        all_serial=1 / n,
        serial_fraction=(1 / share - 1) / (n - 1) if n > 1 else None,
    )


# ---- The Universal Scalability Law ---------------------------------------------------------------


def _terms(threads: NDArray[Any]) -> NDArray[np.float64]:
    """Returns the terms such that n / X = terms @ (1, sigma, kappa) / lambda."""
    n = threads.astype(float)
    return np.stack([np.ones_like(n), n - 1, n * (n - 1)], axis=1)


def fit(threads: Sequence[int], rates: NDArray[np.float64]) -> Law | None:
    """Returns the law with the least squared relative error; None for fewer than three points."""
    if len(threads) < 3:
        return None
    n = np.array(threads)
    time_per_n = n / rates
    terms = _terms(n) / time_per_n[:, None]  # relative, so that the target is 1 at every point
    used, coefficients = _not_negative(terms)
    residual = terms @ coefficients - 1
    freedom = len(n) - len(used)
    covariance = _covariance(terms, used, residual, freedom) if freedom else None
    a, b, c = map(float, coefficients)
    errors = _ratio_errors(coefficients, covariance)
    return Law(
        scale=1 / a,
        contention=b / a,
        coherence=c / a,
        scale_error=errors[0],
        contention_error=errors[1],
        coherence_error=errors[2],
        worst=float(np.max(np.abs(1 / (1 + residual) - 1))),
        covariance=covariance.tolist() if covariance is not None else None,
    )


def _not_negative(terms: NDArray[np.float64]) -> tuple[list[int], NDArray[np.float64]]:
    """Returns the terms used and the coefficients of the best least-squares solution in which no
    coefficient is negative; tries all subsets of the terms that contain the first.
    """
    best_solution: tuple[float, list[int], NDArray[np.float64]] | None = None
    for size in (3, 2, 1):
        for extra in combinations((1, 2), size - 1):
            used = [0, *extra]
            solution = np.linalg.lstsq(terms[:, used], np.ones(len(terms)), rcond=None)[0]
            if (solution < 0).any() or solution[0] <= 0:
                continue
            coefficients = np.zeros(3)
            coefficients[used] = solution
            error = float(np.sum((terms @ coefficients - 1) ** 2))
            if best_solution is None or error < best_solution[0]:
                best_solution = error, used, coefficients
    # never None: all targets are positive, so a fit with the first term alone is, too
    assert best_solution is not None
    return best_solution[1], best_solution[2]


def _covariance(
    terms: NDArray[np.float64], used: list[int], residual: NDArray[np.float64], freedom: int
) -> NDArray[np.float64]:
    """Returns the covariance of the coefficients, 0 for those at their bound of 0."""
    normal = terms[:, used].T @ terms[:, used]
    covariance = np.zeros((3, 3))
    covariance[np.ix_(used, used)] = np.linalg.inv(normal) * float(residual @ residual) / freedom
    return covariance


def _ratio_errors(
    coefficients: NDArray[np.float64], covariance: NDArray[np.float64] | None
) -> list[float | None]:
    """Returns the standard errors of 1/a, b/a and c/a, to first order."""
    if covariance is None:
        return [None, None, None]
    a, b, c = coefficients
    gradients = np.array([[-1 / a**2, 0, 0], [-b / a**2, 1 / a, 0], [-c / a**2, 0, 1 / a]])
    return [float(np.sqrt(g @ covariance @ g)) for g in gradients]
