"""Finds the suites that a change affects, for `scripts/test --quick`.

    changed() -> paths that differ from the main branch, including those that git does not track
    suites(paths) -> the suites and files of tests/ to run for them, as arguments of `scripts/test`

touched.toml maps paths to suites.
"""

from __future__ import annotations

import subprocess
import tomllib
from collections.abc import Iterable
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
TESTS = TOP / "tests"
MAIN = ("origin/main", "main")  # branches to compare with; the first one that exists is used
ALWAYS = ("docs", "house", "layers")  # suites that always run, because they take only seconds
TABLE = Path(__file__).with_suffix(".toml")
ROWS: dict[str, str] = tomllib.loads(TABLE.read_text())


class NoMainBranch(Exception):
    """Raised if git knows none of the branches to compare with."""

    def __str__(self) -> str:
        return (
            f"scripts/test --quick: read the branches of {TOP}, expected {' or '.join(MAIN)} to"
            " compare with; write `git fetch origin main`, or name suites: `scripts/test cli`"
        )


def changed(top: Path = TOP) -> list[str]:
    different = _git(top, "diff", "--name-only", "--no-renames", "-z", _base_commit(top))
    new = _git(top, "ls-files", "--others", "--exclude-standard", "-z")
    return sorted({path for path in (different + new).split("\0") if path})


def _base_commit(top: Path) -> str:
    """Returns the commit of the main branch at which the change began."""
    for branch in MAIN:
        try:
            return _git(top, "merge-base", branch, "HEAD").strip()
        except subprocess.CalledProcessError:
            continue
    raise NoMainBranch


def _git(top: Path, *arguments: str) -> str:
    return subprocess.run(
        ["git", *arguments], cwd=top, capture_output=True, text=True, check=True
    ).stdout


def row(path: str) -> str | None:
    """Returns the longest row of touched.toml that is a prefix of the path, or None."""
    return max((begin for begin in ROWS if path.startswith(begin)), key=len, default=None)


def of_path(path: str) -> list[str]:
    begin = row(path)
    if begin is not None:
        return [file for word in ROWS[begin].split() for file in files(word)]
    if not path.startswith("tests/"):
        # tests/house/test_way_in.py requires a row of touched.toml for each path outside tests
        return []
    _, suite, *rest = path.split("/")
    return ["/".join([suite, *rest]) if rest and rest[-1].startswith("test_") else suite]


def files(word: str) -> list[str]:
    """Returns a suite, or the test files that a word such as `cli/run` or `engine/rules_of_*`
    names.
    """
    suite, _, test = word.partition("/")
    if not test:
        return [suite]
    return [f"{suite}/{file.name}" for file in (TESTS / suite).glob(f"test_{test}.py")]


def suites(paths: Iterable[str]) -> list[str]:
    """Returns the suites and files to run. Leaves out deleted files, and files of a suite that runs
    completely.
    """
    named = {*ALWAYS, *(word for path in paths for word in of_path(path))}
    existing = {word for word in named if (TESTS / word).exists()}
    return sorted(word for word in existing if word.partition("/")[0] not in existing - {word})
