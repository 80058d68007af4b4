"""Every check of the project, with its seconds: `python -m validation.suites [--all] [SUITE...]`.

Style and types come first, because they are quick.  Then pytest runs the suites in one process; the
plugin below prints what each folder of validation/ took.  Exit status: 0 when all passed, else 1.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parent.parent
PYTHON = ["sim", "validation", "hatch_build.py", "SConstruct"]


def tracked(*patterns: str) -> list[str]:
    """Files of the project by pattern; outside a git checkout, by looking."""
    found = (p for pattern in patterns for p in TOP.glob(f"sim/**/{pattern}"))
    return sorted(str(p.relative_to(TOP)) for p in found)


def checks() -> dict[str, list[str]]:
    """Name -> command of everything that is not a test."""
    tool = [sys.executable, "-m"]
    return {
        "ruff format": [*tool, "ruff", "format", "--check", "--quiet", *PYTHON],
        "ruff check": [*tool, "ruff", "check", "--quiet", *PYTHON],
        "types": [*tool, "mypy"],
        "clang-format": ["clang-format", "--dry-run", "--Werror", *tracked("*.cc", "*.hh")],
    }


class Seconds:
    """A pytest plugin: how long each suite took, and how many of its tests did what."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self.counts: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        suite = report.nodeid.split("/")[1]
        self.seconds[suite] += report.duration
        if report.when == "call" or report.outcome != "passed":
            self.counts[suite][report.outcome] += 1

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        terminalreporter.section("suites")
        for suite, seconds in self.seconds.items():
            counts = ", ".join(f"{n} {outcome}" for outcome, n in self.counts[suite].items())
            terminalreporter.write_line(f"{suite:<16} {seconds:7.1f} s   {counts}")


def main(words: Sequence[str]) -> int:
    everything = "--all" in words
    suites = [f"validation/{word}" for word in words if word != "--all"]
    failed = []
    for name, command in ({} if suites else checks()).items():
        start = time.perf_counter()
        status = subprocess.run(command, cwd=TOP).returncode
        print(
            f"{name:<16} {time.perf_counter() - start:7.1f} s   {'failed' if status else 'passed'}"
        )
        failed += [name] if status else []
    selection = [] if everything else ["-m", "not long"]
    status = pytest.main([*selection, *suites], plugins=[Seconds()])
    return 1 if failed or status else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
