"""Do the workloads run on this computer, and does a race detector for C11 accept them?

A check of values may miss a race, because engines do not show all results of a race.
ThreadSanitizer checks the order that the program establishes.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from uncore.errors import UserError
from uncore.host import pinned
from uncore.program import build, find, load, source_of
from uncore.result import load as load_result
from uncore.result import save
from uncore.support import paths

WORKLOADS = sorted(
    path.relative_to(paths.WORKLOADS).with_suffix("").as_posix()
    for folder in ("lock", "refcount", "epoch")
    for path in (paths.WORKLOADS / folder).glob("*.c")
)
TWO = [*pinned.processors(), *pinned.processors()][
    :2
]  # with a single processor, both threads run on it
SMALL_PARAMETERS = {"ops": "100", "patience": "60s"}

pytestmark = pytest.mark.skipif(bool(pinned.missing()), reason=pinned.missing())


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paths, "CACHE", tmp_path)


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("name", WORKLOADS)
def test_a_workload_passes_its_own_check_with_two_threads(name: str) -> None:
    workload = find(name)
    point = pinned.run(pinned.compile(source_of(workload)), workload, TWO, SMALL_PARAMETERS)
    assert point["failures"] == []
    assert len(point["thread_ops"]) == 2 and point["ops"] > 0


def sanitized(name: str, *defines: str) -> str:
    """Runs the program with two threads, and returns the reports of ThreadSanitizer; "" if none."""
    if not shutil.which("cc"):
        pytest.skip("no compiler cc on this computer")
    source = paths.WORKLOADS / f"{name}.c"
    try:
        binary = pinned.compile(source, build.HOST_SANITIZED, defines)
    except UserError as error:
        if "tsan" in str(error):
            pytest.skip("cc has no ThreadSanitizer here")
        raise
    environment = {**os.environ, "TSAN_OPTIONS": "atexit_sleep_ms=0"}
    arguments = [str(binary), "n=2", "ops=100", f"patience={60 * 10**9}"]
    ended = subprocess.run(arguments, capture_output=True, text=True, env=environment)
    assert defines or ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stderr


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("name", WORKLOADS)
def test_a_workload_has_no_data_race(name: str) -> None:
    assert sanitized(name) == ""


def test_a_missing_lock_is_a_data_race() -> None:
    assert "data race" in sanitized("lock/ticket", "UC_SABOTAGE=1")


def test_host_run_fails_if_a_self_check_fails(tmp_path: Path) -> None:
    source = tmp_path / "wrong.c"
    source.write_text(
        '#include "uncore.h"\n'
        'void uc_main(unsigned id, unsigned n) { uc_check(id + 1 < n, "the last one"); }\n'
    )
    point = pinned.run(pinned.compile(source), find("lock/ticket"), TWO, {})
    assert point["failures"] == ["wrong.c:2: the last one"]


def test_host_measurement_has_points_with_a_rate(tmp_path: Path) -> None:
    result = pinned.measure(find("counter/atomic"), [1], {"ops": 1000})
    [point] = result.points
    assert (point.ops, point.throughput is not None) == (1000, True)
    assert point.transfers is None and "hardware" in point.absent["transfers"]
    save(result, tmp_path / "result.json")
    assert load_result(tmp_path / "result.json").result_hash == result.result_hash
    [row] = result.to_polars().to_dicts()
    assert (row["machine"], row["engine"], row["set.ops"]) == ("host", "host", "1000")


def test_more_threads_than_processors_are_refused() -> None:
    with pytest.raises(UserError, match="may use"):
        pinned.measure(find("lock/ticket"), [len(pinned.processors()) + 1])


def test_an_elf_cannot_be_compiled_for_the_host(tmp_path: Path) -> None:
    elf = tmp_path / "mine.elf"
    elf.write_bytes(find("lock/ticket").data)
    with pytest.raises(UserError, match="needs the C file"):
        pinned.measure(load(elf), [1])
