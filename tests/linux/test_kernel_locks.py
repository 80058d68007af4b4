"""K4.2: the kernel's locks are queued spin locks, whose waiters look at lines of their own."""

from __future__ import annotations

import pytest
from tests.linux.programs import job

from uncore.execution.execute import execute

CALLS = 40  # calls of each thread in tests/linux/bucket.c


def fetches_per_call(threads: int, seed: int = 1) -> float:
    """Fetches of the line of a bucket that all threads lock, over the calls that lock it."""
    asked = job(str(threads), guest="bucket", machine="mesh:4x4", harts=threads, seeds=(seed,))
    (result,) = execute([asked], probes=frozenset({"lines"}))
    assert result.observed and not result.points[0].failures
    fetched = 0
    for line in result.observed[0].lines:
        if any(name.startswith("kernel: buckets of futexes") for _, _, name in line.fields):
            fetched += sum(line.transfers.values())
    return fetched / (CALLS * threads)


def test_lock_that_one_hart_takes_stays_in_its_cache() -> None:
    assert fetches_per_call(1) < 0.1


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_waiters_of_a_lock_do_not_fetch_its_line_each_time_it_is_released(seed: int) -> None:
    """A hart enters the queue, looks when it is first, and takes the lock: whoever else waits."""
    few, many = fetches_per_call(6, seed), fetches_per_call(9, seed)
    assert 3 < few < 5 and many < 1.1 * few
