"""Do processes that share tests (tests/tools/shared.py) run each of them once, and tell of all?"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.tools.shared import PROCESSES

TOP = Path(__file__).resolve().parents[2]
TESTS = """
import os, time, pathlib, pytest


def all_have_begun():
    return len({line.split()[1] for line in pathlib.Path("ran").read_text().splitlines()}) == 3

@pytest.mark.parametrize("number", range(24))
def test_one(number):
    with open("ran", "a") as file:
        file.write(f"{number} {os.getpid()}\\n")
    for _ in range(600):  # at most a minute, until all processes have begun
        if all_have_begun():
            break
        time.sleep(0.1)
    assert number not in (1, 22)
    if number == 23 and os.environ.get("DIES"):
        os.kill(os.getpid(), 9)
"""


def shared(folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    (folder / "test_them.py").write_text(TESTS)
    (folder / "pytest.ini").write_text("[pytest]\n")
    words = ["-m", "pytest", "-q", "-p", "tests.tools.shared", "-p", "no:cacheprovider"]
    return subprocess.run(
        [sys.executable, *words],
        cwd=folder,
        env={"PYTHONPATH": str(TOP), PROCESSES: "3", **environment},
        capture_output=True,
        text=True,
    )


def test_each_test_runs_once_and_its_report_is_in_the_one_summary(tmp_path):
    done = shared(tmp_path)
    ran = [line.split() for line in (tmp_path / "ran").read_text().splitlines()]
    assert sorted(int(number) for number, _ in ran) == list(range(24))
    assert len({process for _, process in ran}) == 3
    assert "2 failed, 22 passed" in done.stdout
    assert "test_one[1]" in done.stdout and "test_one[22]" in done.stdout
    assert done.returncode == 1


def test_a_process_that_dies_is_a_failure(tmp_path):
    done = shared(tmp_path, DIES="1")
    assert "process 1 ended with -9" in done.stdout + done.stderr
    assert done.returncode == 1


FIXTURES = """
import pytest, time

@pytest.fixture(scope="module")
def place():
    yield

@pytest.mark.parametrize("number", range(9))
def test_quick(place, number):
    time.sleep(0.01 * (number % 3))
"""


def test_fixtures_end_before_the_tests_of_another_file_begin(tmp_path):
    for name in "abcdef":
        (tmp_path / f"test_{name}.py").write_text(FIXTURES)
    done = shared(tmp_path)
    assert "2 failed, 76 passed" in done.stdout
