"""Does a test marked `sampled` run a part of its cases by default, and all of them on demand?"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.house.tracked import TOP

TEXT = """
import pytest
@pytest.mark.sampled(every=4)
@pytest.mark.parametrize("case", range({cases}))
def test_case(case):
    pass
"""


def cases(folder: Path, count: int, *limits: str) -> set[str]:
    """Returns the cases, of `count`, that pytest runs with these arguments."""
    (folder / "test_it.py").write_text(TEXT.format(cases=count))
    arguments = ["-p", "tests.conftest", "-c", TOP / "pyproject.toml", "--rootdir", folder, *limits]
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", *arguments, folder]
    printed = subprocess.run(command, cwd=TOP, capture_output=True, text=True).stdout
    return {line.partition("::")[2] for line in printed.splitlines() if "::" in line}


def test_one_case_in_four_runs_by_default_and_all_without_the_limit(tmp_path: Path) -> None:
    drawn = cases(tmp_path, 80, "-m", "not long")
    assert 10 <= len(drawn) <= 30
    assert len(cases(tmp_path, 80)) == 80


def test_added_case_moves_no_other_case(tmp_path: Path) -> None:
    before, after = (cases(tmp_path, count, "-m", "not long") for count in (80, 81))
    assert after - before <= {"test_case[80]"} and before <= after
