"""Do random invocations leave no damaged file or process, and would such a fault be noticed?"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.tools import invocations
from tests.tools.drawn import Plan

ROOT = Path(__file__).parents[2]


def test_random_invocations_give_no_traceback_unknown_status_or_damaged_file():
    """They run in a separate process without threads, because that process forks."""
    arguments = [
        sys.executable,
        "-m",
        "tests.tools.invocations",
        "--runs",
        "40",
        "--separate",
        "20",
    ]
    run = subprocess.run(arguments, cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr
    assert "40 invocations, 0 findings" in run.stdout


@pytest.mark.parametrize(
    ("output", "status", "expected"),
    [
        ("Traceback (most recent call last):", 1, ["traceback"]),
        ("", 99, ["status 99"]),
        ("", -11, ["status -11"]),
        ("uncore: no", 2, []),
    ],
)
def test_traceback_and_unknown_status_are_findings(tmp_path, output, status, expected):
    ended = invocations.Ended(status, output)
    assert list(invocations._findings(2**22 + 1, tmp_path, Plan([]), ended)) == expected


@pytest.mark.parametrize("name", ["p.png", "p.svg", "m.csv", "l.parquet", "r.json"])
def test_half_written_or_missing_file_counts_as_damaged_and_an_unchanged_file_does_not(
    tmp_path, name
):
    path = tmp_path / name
    path.write_bytes(b"{")
    assert invocations._damage(path)
    path.write_bytes(invocations.OLD_CONTENT)
    assert not invocations._damage(path)
    path.unlink()
    assert invocations._damage(path)
