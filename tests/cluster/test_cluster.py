"""Does a cluster give what this process gives, whatever becomes of its workers?"""

from __future__ import annotations

import pytest

from uncore.errors import OutsideError, UserError
from uncore.execution.cluster import connected
from uncore.execution.execute import execute
from uncore.execution.request import make_job
from uncore.execution.saved_points import Store

# A worker whose copy of uncore says that it is another one.
OTHER = "from uncore.engine import copy\ncopy.content = lambda: 'f' * 64\n"
WITHOUT = "import sys\nsys.modules['uncore'] = None\n"


def jobs(points: int, ops: int = 200, threads=(1, 2, 4, 8)):
    """Jobs of two machines."""
    seeds = tuple(range(1, points // len(threads) // 2 + 1))
    given = {"parameters": {"ops": ops}, "seeds": seeds}
    return [make_job(name, "lock/mcs", threads, **given) for name in ("ring:8", "ccx:2x4")]


def hashes(results) -> list[str]:
    return [result.result_hash for result in results]


def with_one_killed(head, worker, wanted, **how):
    """The results of a run in which one of two workers is killed when a third is done."""
    workers = [worker(), worker()]
    total = sum(len(list(job.points())) for job in wanted)
    done, heard = [], []

    def count(job, point) -> None:
        done.append(point)
        if len(done) == total // 3:
            workers[0].kill()

    def hear(operations, reached, under_way=1) -> None:
        heard.append((reached, under_way))

    with connected(head.address) as cluster:
        cluster._client.wait_for_workers(2, timeout=60)
        results = execute(wanted, cluster, count, tick=hear, **how)
    return results, done, heard


def test_a_worker_that_is_killed_loses_nothing(head, worker, tmp_path):
    wanted = jobs(24, ops=12_000)  # the longest speak
    store = Store(tmp_path / "points")
    results, done, heard = with_one_killed(head, worker, wanted, store=store)
    assert len(done) == 24
    assert hashes(results) == hashes(execute(wanted))
    assert heard and max(reached for reached, _ in heard) > 0
    again = execute(wanted, store=store, resume=True)
    assert sum(result.host.resumed for result in again) == 24  # kept here, not on the workers


@pytest.mark.long
def test_two_hundred_points_with_a_worker_killed_at_a_third(head, worker):
    wanted = jobs(200, ops=8000, threads=(8,))  # each long enough to speak
    results, done, heard = with_one_killed(head, worker, wanted)
    assert len(done) == 200
    assert hashes(results) == hashes(execute(wanted, 2))
    assert max(under_way for _, under_way in heard) == 2  # both were heard


@pytest.mark.parametrize(
    ("patch", "said"),
    [(OTHER, "has another copy of uncore"), (WITHOUT, "cannot load uncore")],
)
def test_a_worker_with_another_copy_is_refused(head, worker, tmp_path, patch, said):
    preload = tmp_path / "patch.py"
    preload.write_text(patch)
    worker("--preload", str(preload))
    with pytest.raises(UserError, match=f"worker tcp://.*{said}"), connected(head.address):
        pass


def test_a_scheduler_that_ends_is_said_to_be_gone(head, worker):
    worker()
    said = []
    with pytest.raises(OutsideError, match="scheduler is gone"), connected(head.address) as cluster:

        def end(job, point):
            said.append(point)
            head.process.kill()

        execute(jobs(8, ops=1000), cluster, end)


@pytest.mark.parametrize("address", ["head", "http://head:1", "tcp://head", "tcp://a b:1"])
def test_an_address_that_is_none_is_refused(address):
    with pytest.raises(UserError, match="expected a scheduler's address"), connected(address):
        pass
