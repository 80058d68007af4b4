"""Predicts contended atomics and spin locks on a machine that nobody measured.

    rates(name, counts) -> Rates      rates of the workloads that `uncore measure` runs

The machine has the median of each number that relatives lend, as in `forecast`, and otherwise the
numbers of its file.  The range over the seeds shows only the influence of chance; it is not the
interval of a prediction.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from uncore.execution.execute import execute
from uncore.execution.request import make_job
from uncore.result.schema import Result
from uncore_lab.figures import CONTENDED
from uncore_lab.figures.simulate import MATRIX_SEEDS
from uncore_lab.fitting.numbers import lendable_numbers_of, settings
from uncore_lab.predict.forecast import predicted
from uncore_lab.predict.ledger import Rates

RATE_DIGITS = 4


def rates(name: str, counts: Sequence[int], cores: int = 1) -> Rates:
    forecast, _ = predicted(name)
    lent = settings(
        {loan.key: loan.belief.median for loan in forecast.loans}, lendable_numbers_of(name)
    )
    overrides = dict(text.split("=", 1) for text in lent)
    jobs = [
        make_job(name, workload, counts, overrides=overrides, seeds=MATRIX_SEEDS)
        for workload in CONTENDED
    ]
    spreads = [_spread(result, counts) for result in execute(jobs, cores)]
    return Rates([*counts], dict(zip(CONTENDED, spreads, strict=True)))


def _spread(result: Result, counts: Sequence[int]) -> list[tuple[float, float, float]]:
    """Returns the least, the median and the greatest rate over the seeds, at each thread count."""
    spread = []
    for count in counts:
        seed_rates = sorted(p.ops * 1e6 / p.elapsed_ps for p in result.points if p.threads == count)
        low, middle, high = (
            float(f"{rate:.{RATE_DIGITS}g}")
            for rate in (seed_rates[0], statistics.median(seed_rates), seed_rates[-1])
        )
        spread.append((low, middle, high))
    return spread
