"""Are the locks of the kernel queued spin locks, whose waiters spin on their own lines (K4.2)?"""

from __future__ import annotations

import pytest
from tests.linux.programs import job

from uncore.execution.execute import execute

CALLS = 40  # calls of each thread in tests/linux/bucket.c


def fetches_per_call(threads: int, seed: int = 1) -> float:
    """Returns how often the line of a futex bucket is fetched per call that locks the bucket."""
    bucket_job = job(str(threads), guest="bucket", machine="mesh:4x4", harts=threads, seeds=(seed,))
    (result,) = execute([bucket_job], observers=frozenset({"lines"}))
    assert result.observed and not result.points[0].failures
    fetched = 0
    for line in result.observed[0].lines:
        if any(name.startswith("kernel: buckets of futexes") for _, _, name in line.fields):
            fetched += sum(line.transfers.values())
    return fetched / (CALLS * threads)


def test_kernel_lock_used_by_one_hart_stays_in_its_cache() -> None:
    assert fetches_per_call(1) < 0.1


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_waiters_of_a_kernel_lock_do_not_fetch_its_line_at_each_release(seed: int) -> None:
    """A hart fetches the lock to enter the queue, when it becomes the first, and to take the lock.
    More waiters do not add fetches.
    """
    six_threads, nine_threads = fetches_per_call(6, seed), fetches_per_call(9, seed)
    assert 3 < six_threads < 5 and nine_threads < 1.1 * six_threads
