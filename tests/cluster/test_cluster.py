"""Does a cluster give the same results as a single process, even if its workers fail?"""

from __future__ import annotations

import re
import subprocess
import sys
from contextlib import nullcontext

import pytest
import yaml
from dask import config
from tests.cluster.conftest import CLUSTER_TIMEOUT_S, WORKER_OPTIONS, scheduler

from uncore.cli.options import Crew
from uncore.errors import OutsideError, UserError
from uncore.execution.cluster import connected
from uncore.execution.execute import execute
from uncore.execution.request import make_job
from uncore.execution.saved_points import Store
from uncore.support.paths import CHECKOUT

# Makes a worker report that it has another copy of uncore.
PATCH_OTHER_COPY = "from uncore.engine import copy\ncopy.content = lambda: 'f' * 64\n"
PATCH_WITHOUT_UNCORE = "import sys\nsys.modules['uncore'] = None\n"


def jobs(points: int, ops: int = 200, threads=(1, 2, 4, 8)):
    """Makes jobs for two machines."""
    seeds = tuple(range(1, points // len(threads) // 2 + 1))
    options = {"parameters": {"ops": ops}, "seeds": seeds}
    return [make_job(name, "lock/mcs", threads, **options) for name in ("ring:8", "ccx:2x4")]


def hashes(results) -> list[str]:
    return [result.result_hash for result in results]


def run_and_kill_a_worker(head, worker, jobs_, **options):
    """Runs the jobs on two workers, and kills one of them after a third of the points. Returns the
    results, the finished points, and the reports of progress.
    """
    workers = [worker(), worker()]
    total = sum(len(list(job.points())) for job in jobs_)
    finished, reports = [], []

    def count(job, point) -> None:
        finished.append(point)
        if len(finished) == total // 3:
            workers[0].kill()

    def report(operations, reached, under_way=1) -> None:
        reports.append((reached, under_way))

    with connected(head.address) as cluster:
        cluster._client.wait_for_workers(2, timeout=CLUSTER_TIMEOUT_S)
        results = execute(jobs_, cluster, count, tick=report, **options)
    return results, finished, reports


def test_results_are_complete_after_a_worker_is_killed(head, worker, tmp_path):
    jobs_ = jobs(24, ops=12_000)  # the longest points last long enough to report progress
    store = Store(tmp_path / "points")
    results, finished, reports = run_and_kill_a_worker(head, worker, jobs_, store=store)
    assert len(finished) == 24
    assert hashes(results) == hashes(execute(jobs_))
    assert reports and max(reached for reached, _ in reports) > 0
    resumed = execute(jobs_, store=store, resume=True)
    # The points are saved on this computer, not on the workers.
    assert sum(result.host.resumed for result in resumed) == 24


@pytest.mark.long
def test_results_of_two_hundred_points_are_complete_after_a_worker_is_killed(head, worker):
    jobs_ = jobs(200, ops=8000, threads=(8,))  # each job lasts long enough to report progress
    results, finished, reports = run_and_kill_a_worker(head, worker, jobs_)
    assert len(finished) == 200
    assert hashes(results) == hashes(execute(jobs_, 2))
    assert max(under_way for _, under_way in reports) == 2  # both workers reported progress


@pytest.mark.parametrize(
    ("patch", "message"),
    [
        (PATCH_OTHER_COPY, "has another copy of uncore"),
        (PATCH_WITHOUT_UNCORE, "cannot load uncore"),
    ],
)
def test_worker_with_another_copy_of_uncore_is_refused(head, worker, tmp_path, patch, message):
    preload = tmp_path / "patch.py"
    preload.write_text(patch)
    worker("--preload", str(preload))
    with pytest.raises(UserError, match=f"worker tcp://.*{message}"), connected(head.address):
        pass


def test_worker_with_another_copy_of_uncore_that_joins_late_is_refused(head, worker, tmp_path):
    """The worker starts after the others were checked, and is refused at its first task."""
    patch = tmp_path / "patch.py"
    patch.write_text(PATCH_OTHER_COPY)
    worker()
    with connected(head.address) as cluster:
        worker("--preload", str(patch))
        cluster._client.wait_for_workers(2, timeout=CLUSTER_TIMEOUT_S)
        with pytest.raises(UserError, match=r"worker tcp://.*has another copy of uncore"):
            execute(jobs(8), cluster)


# Connects without keys, and then with keys of its own. Exits with status 1 if either is accepted.
STRANGERS_PROGRAM = """
import asyncio, sys
from distributed.core import connect
from distributed.security import Security
for keys in (Security(), Security.temporary()):
    try:
        asyncio.run(connect(sys.argv[1], timeout=5, **keys.get_connection_args("client")))
    except (TypeError, OSError) as error:
        print("refused:", error)
    else:
        sys.exit(1)
"""


def test_local_cluster_refuses_a_client_without_its_certificate():
    with connected("local", 1) as cluster:
        address = cluster._client.scheduler.address
        assert address.startswith("tls://127.0.0.1:")
        command = [sys.executable, "-c", STRANGERS_PROGRAM, address]
        stranger = subprocess.run(command, capture_output=True, text=True)
        assert (stranger.returncode, stranger.stdout.count("refused:")) == (0, 2)
        assert hashes(execute(jobs(8)[:1], cluster)) == hashes(execute(jobs(8)[:1]))


def test_recipe_of_the_manual_encrypts_a_cluster(start, tmp_path):
    """Follows docs/cli.md, and then tries to connect without the keys."""
    page = (CHECKOUT / "docs/cli.md").read_text()
    make = re.search("^    (openssl .*)$", page, re.MULTILINE)[1].split()
    subprocess.run(make, cwd=tmp_path, check=True, capture_output=True)
    dask = tmp_path / "dask"
    dask.mkdir()
    settings = re.search("^```yaml\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)[1]
    (dask / "tls.yaml").write_text(settings.replace("/home/you", str(tmp_path)))
    keys = {"DASK_CONFIG": str(dask)}
    head = scheduler(start, tmp_path, "--protocol", "tls", **keys)
    start("worker", head.address, *WORKER_OPTIONS, **keys)
    small_job = jobs(8)[:1]
    with_keys = yaml.safe_load((dask / "tls.yaml").read_text())
    with (
        config.set(config.merge(config.global_config, with_keys)),
        connected(head.address) as cluster,
    ):
        assert hashes(execute(small_job, cluster)) == hashes(execute(small_job))
    with pytest.raises(UserError, match=r"--cluster tls://.*needs keys"), connected(head.address):
        pass


@pytest.mark.parametrize(
    ("address", "is_exposed"),
    [
        ("tcp://head:8786", True),
        ("ws://10.0.0.7:8786", True),
        ("tcp://[2001:db8::1]:8786", True),
        ("tcp://0.0.0.0:8786", True),
        ("tcp://127.0.0.1:8786", False),
        ("tcp://[::1]:8786", False),
        ("tcp://localhost:8786", False),
        ("tls://head:8786", False),
        ("wss://head:8786", False),
        ("local", False),
    ],
)
def test_unencrypted_address_that_others_can_reach_gives_a_warning(
    address, is_exposed, monkeypatch, capsys
):
    monkeypatch.setattr("uncore.execution.cluster.connected", lambda *_: nullcontext(1))
    with Crew(cluster=address).at_work():
        pass
    message = capsys.readouterr().err
    assert ("runs code on the workers" in message and "tls://" in message) is is_exposed


def test_lost_scheduler_is_reported(head, worker):
    worker()
    finished = []
    with pytest.raises(OutsideError, match="scheduler is gone"), connected(head.address) as cluster:

        def kill_scheduler(job, point):
            finished.append(point)
            head.process.kill()

        execute(jobs(8, ops=1000), cluster, kill_scheduler)


@pytest.mark.parametrize("address", ["head", "http://head:1", "tcp://head", "tcp://a b:1"])
def test_invalid_scheduler_address_is_refused(address):
    with pytest.raises(UserError, match="expected a scheduler's address"), connected(address):
        pass
