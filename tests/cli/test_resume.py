"""Does a resumed execution run only the missing points, and load no points of another job?"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from uncore.api import load_result
from uncore.engine import copy
from uncore.execution.execute import _in_execution_order, execute
from uncore.execution.request import make_job
from uncore.execution.saved_points import SavedPoint, Store, key

CURVE_RUN = ("run", "bus:2", "counter/atomic", "--threads", "1,2", "--set", "ops=50")


def job(machine="bus:2", **options):
    fields = {"parameters": {"ops": 50}, "seeds": (1, 2), **options}
    return make_job(machine, "counter/atomic", (1, 2), **fields)


def files(folder: Path) -> list[Path]:
    return [file for file in folder.rglob("*") if file.is_file()]


def finished_points(cache: Path) -> int:
    """Returns the number of saved points. A file that is still being written has another name."""
    return sum(re.fullmatch("[0-9a-f]{64}", file.name) is not None for file in files(cache))


def number_of_runs(monkeypatch, jobs, **how) -> int:
    """Executes the jobs, and returns how many of their points were run instead of loaded."""
    from uncore import engine

    runs = []
    run = engine.run
    monkeypatch.setattr(engine, "run", lambda *given: runs.append(0) or run(*given))
    execute(jobs, **how)
    monkeypatch.undo()
    return len(runs)


def test_finished_points_are_not_run_again(monkeypatch, tmp_path):
    store = Store(tmp_path)
    first = execute([job()], store=store)[0]
    assert number_of_runs(monkeypatch, [job()], store=store, resume=True) == 0
    again = execute([job()], store=store, resume=True)[0]
    assert (again.result_hash, again.host.resumed) == (first.result_hash, 4)
    assert again.host.seconds == first.host.seconds


def test_without_resuming_every_point_is_run_again(monkeypatch, tmp_path):
    execute([job()], store=Store(tmp_path))
    assert number_of_runs(monkeypatch, [job()], store=Store(tmp_path)) == 4


def test_failed_points_are_not_saved_and_the_others_are_run(tmp_path):
    failed = []
    result = execute(
        [job(watchdog=1), job()], store=Store(tmp_path), wrong=lambda job, _: failed.append(job)
    )
    assert [len(each.points) for each in result] == [0, 4]
    assert (len(failed), finished_points(tmp_path)) == (4, 4)


@pytest.mark.parametrize("workers", [1, 2])
def test_point_whose_saving_is_interrupted_is_in_the_result(tmp_path, monkeypatch, workers):
    saves = []

    def save(self, *_):
        saves.append(0)
        raise KeyboardInterrupt

    monkeypatch.setattr(Store, "save", save)
    result = execute([job()], workers, store=Store(tmp_path))[0]
    assert len(saves) == 1
    assert (len(result.outcome.points), result.outcome.partial) == (1, True)


def test_only_missing_points_are_run(monkeypatch, tmp_path):
    store = Store(tmp_path)
    execute([job(seeds=(2,))], store=store)
    assert number_of_runs(monkeypatch, [job()], store=store, resume=True) == 2


@pytest.mark.parametrize(
    "other_job",
    [
        lambda: job(parameters={"ops": 51}),
        lambda: job("bus:3"),
        lambda: job(overrides={"core.hold": "77ns"}),
        lambda: job(seeds=()),
        lambda: job(placement="scatter", watchdog=10**10),
        lambda: job(engine="reference"),
        lambda: replace(job(), program=make_job("bus:2", "counter/cas").program, parameters=()),
    ],
    ids=["parameter", "machine", "number", "lockstep", "policies", "engine", "program"],
)
def test_point_of_another_job_is_not_loaded(tmp_path, other_job):
    assert key(next(other_job().points())) != key(next(job().points()))


def test_key_of_a_saved_point_is_independent_of_how_numbers_are_written():
    hold = job().machine.each_core[0].hold
    stated = job(overrides={"core.hold": f"{hold}ps"})
    assert stated.document() != job().document()
    assert key(stated.at(1, 1)) == key(job().at(1, 1))


def test_point_of_another_copy_of_uncore_is_not_loaded(monkeypatch, tmp_path):
    (tmp_path / "one.py").write_text("new code")
    point = job().at(1, 1)
    before = key(point)
    monkeypatch.setattr(copy.paths, "GEM5", tmp_path)
    copy.content.cache_clear()
    assert key(point) != before
    monkeypatch.undo()
    copy.content.cache_clear()
    assert key(point) == before


@pytest.mark.parametrize(
    "spoil", [lambda b: b[:-9], lambda b: b"", lambda b: b[:40] + b"x" + b[41:]]
)
def test_point_with_a_damaged_file_is_run_again(monkeypatch, tmp_path, spoil):
    store = Store(tmp_path)
    first = execute([job()], store=store)[0]
    for file in files(tmp_path):
        file.write_bytes(spoil(file.read_bytes()))
    again = execute([job()], store=store, resume=True)[0]
    assert (again.result_hash, again.host.resumed) == (first.result_hash, 0)


def test_observations_are_loaded_with_their_point(tmp_path):
    store, lines = Store(tmp_path), frozenset({"lines"})
    first = execute([job()], store=store, observers=lines)[0]
    again = execute([job()], 2, store=store, observers=lines, resume=True)[0]
    assert again.host.resumed == 4
    assert again.observed == first.observed != []


def test_point_saved_without_observations_is_run_again_if_they_are_requested(tmp_path):
    store = Store(tmp_path)
    execute([job()], store=store)
    watched = execute([job()], store=store, observers=frozenset({"lines"}), resume=True)[0]
    assert (watched.host.resumed, len(watched.observed)) == (0, 4)


def test_oldest_points_are_deleted_if_the_folder_is_full(tmp_path):
    point = execute([job(seeds=())])[0].points[0]
    store = Store(tmp_path, most=4000)
    keys = [f"{n:064x}" for n in range(40)]  # these names begin alike, so they are in one folder
    for number, name in enumerate(keys):
        store.save(name, SavedPoint(point, 1.0))
        path = next(file for file in files(tmp_path) if file.name == name)
        os.utime(path, (number, number))
        assert sum(file.stat().st_size for file in files(tmp_path)) <= store.most
    assert store.load(keys[-1]) and not store.load(keys[0])


def test_run_succeeds_if_its_points_cannot_be_saved(tmp_path):
    (tmp_path / "file").write_text("no folder")
    result = execute([job()], store=Store(tmp_path / "file"))[0]
    assert len(result.points) == 4


@pytest.mark.parametrize("cores", [1, 2])
def test_points_run_by_rising_thread_count_but_with_two_workers_long_points_run_longest_first(
    cores,
):
    points = [
        point
        for curve in (make_job("bus:64", "counter/atomic", "1,2..64"),)
        for point in curve.points()
    ]
    order = [
        first.threads[0]
        for _, first in _in_execution_order(list(enumerate(reversed(points))), cores == 1)
    ]
    assert order == {1: [1, 2, 4, 8, 16, 32, 64], 2: [1, 2, 4, 64, 32, 16, 8]}[cores]


def test_note_on_resuming_counts_the_loaded_points(uncore):
    first = uncore(*CURVE_RUN)
    again = uncore(*CURVE_RUN, "--resume")
    assert "resumed: 6 of 6 points" in again.err
    assert (again.status, again.out) == (0, first.out)
    more = uncore(*CURVE_RUN[:-1], "ops=50,60", "--resume")
    assert "resumed: 6 of 12 points" in more.err


def test_interrupted_matrix_is_resumed(uncore):
    first = uncore("matrix", "bus:2", "--json")
    assert uncore("matrix", "bus:2", "--json", "--resume") == first


# The first point takes a moment; all four points take seconds.
LONG_RUN = (
    "run bus:8 counter/atomic --threads 1,2,4,8 --set ops=200000 --seed none --cores 1"
    " --output r.json"
)


def test_killed_run_resumes_from_its_finished_points(tmp_path):
    """SIGKILL cannot be caught, so it stands for a power failure."""
    arguments = [sys.executable, "-m", "uncore", *LONG_RUN.split()]
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    process = subprocess.Popen(arguments, cwd=tmp_path, env=environment, stdout=subprocess.DEVNULL)
    end = time.monotonic() + 200
    while not finished_points(tmp_path / "cache") and time.monotonic() < end:
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    stored_points = finished_points(tmp_path / "cache")
    assert 1 <= stored_points < 4 and not (tmp_path / "r.json").exists()
    completed = subprocess.run(
        [*arguments, "--resume"], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert f"resumed: {stored_points} of 4 points" in completed.stderr
    result = load_result(tmp_path / "r.json")
    assert (len(result.points), result.host.resumed) == (4, stored_points)
    uninterrupted = execute(
        [make_job("bus:8", "counter/atomic", "1,2..8", parameters={"ops": 200000})]
    )[0]
    assert result.result_hash == uninterrupted.result_hash
