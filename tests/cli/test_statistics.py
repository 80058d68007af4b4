"""Are a run's summary numbers computed as documented?"""

from __future__ import annotations

import pytest
from tests.support.runs import run

from uncore.engine.outcome import percentiles
from uncore.program import HartRecord, readback

ONE_TO_HUNDRED = [(latency, 1) for latency in range(1, 101)]


@pytest.mark.parametrize(
    ("buckets", "p50", "p90", "p99"),
    [
        (ONE_TO_HUNDRED, 50, 90, 99),
        ([(1, 1), (2, 1), (3, 1)], 2, 3, 3),
        ([(5, 90), (7, 9), (9, 1)], 5, 5, 7),
        ([(5, 899), (6, 1), (7, 100)], 5, 6, 7),
        ([(4, 1)], 4, 4, 4),
    ],
)
def test_percentile_p_is_the_least_latency_that_p_percent_of_operations_do_not_exceed(
    buckets: list[tuple[int, int]], p50: int, p90: int, p99: int
) -> None:
    assert percentiles(buckets) == {"p50": p50, "p90": p90, "p99": p99, "max": buckets[-1][0]}


def test_run_without_operations_has_no_percentiles() -> None:
    assert percentiles([]) is None


@pytest.mark.parametrize("earliest", [0, 1, 2])
def test_a_run_lasts_from_the_first_start_to_the_last_end(earliest: int) -> None:
    """Any hart may be the first to start, and any other the last to end."""
    times = [(30, 70), (30, 70), (30, 70)]
    times[earliest], times[(earliest + 1) % 3] = (10, 60), (20, 90)
    fields = readback.fields([HartRecord(1, begin, end, 0) for begin, end in times], {})
    assert fields["elapsed_ps"] == 80_000
    assert fields["thread_ps"][earliest] == (0, 50_000)


@pytest.mark.parametrize("batch", [1, 8])
def test_each_operation_of_a_batch_counts_among_the_latencies(batch: int) -> None:
    counted = run("bus:2", "counter/contended", 2, ops=64, batch=batch).counters()["latencies"]
    assert sum(times for _, times in counted) == 2 * 64 * batch
