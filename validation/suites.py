"""Every check of the project, with its seconds: `python -m validation.suites [--all] [SUITE...]`.

Beside everything else, another process builds the native module with sanitizers and runs on it the
suites that execute native code (sanitized.py).  Style and types come first, because they are quick;
then pytest runs the suites in one process, and the plugin below prints what each folder of
validation/ took, and what the sanitizers said.

Exit status: 0 when all passed, else 1.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import pytest
from validation.sanitized import Beside

TOP = Path(__file__).resolve().parent.parent
TOOL = [sys.executable, "-m"]
QUICK = ["-m", "not long"]


def run(name: str, command: Sequence[str]) -> bool:
    """Runs one command, prints its seconds, and says whether it passed."""
    start = time.perf_counter()
    passed = subprocess.run(command, cwd=TOP).returncode == 0
    seconds = time.perf_counter() - start
    print(f"{name:<16} {seconds:7.1f} s   {'passed' if passed else 'FAILED'}", flush=True)
    return passed


def style() -> list[bool]:
    """Format, lint, types and import contracts of Python; format of C++."""
    python = ["sim", "validation", "benchmarks", "hatch_build.py", "SConstruct"]
    python += ["sim/native/SConscript", "sim/sst/SConscript", "workloads/SConscript"]
    native = [
        str(path)
        for folder in ("sim/native", "sim/sst", "workloads", "benchmarks")
        for path in sorted((TOP / folder).rglob("*.[ch]*"))
    ]
    return [
        run("ruff format", [*TOOL, "ruff", "format", "--check", "--quiet", *python]),
        run("ruff check", [*TOOL, "ruff", "check", "--quiet", *python]),
        run("types", [*TOOL, "mypy"]),
        run("imports", [beside("lint-imports"), "--no-cache", "--no-logo"]),
        run("clang-format", [beside("clang-format"), "--dry-run", "--Werror", *native]),
    ]


def beside(program: str) -> str:
    """The locked one."""
    return str(Path(sys.executable).with_name(program))


class Seconds:
    """A pytest plugin: how long each suite took, how many of its tests did what; the sanitizers."""

    def __init__(self, sanitizers: Beside | None) -> None:
        self.sanitizers = sanitizers
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
        if self.sanitizers:
            passed, seconds, output = self.sanitizers.end()
            terminalreporter.section("sanitizers")
            terminalreporter.write_line(output.rstrip() if not passed else output.splitlines()[-1])
            terminalreporter.write_line(f"{'until':<16} {seconds:7.1f} s")


def main(words: Sequence[str]) -> int:
    limits = [] if "--all" in words else QUICK
    suites = [f"validation/{word}" for word in words if word != "--all"]
    if suites:
        return int(pytest.main([*limits, *suites], plugins=[Seconds(None)]) != 0)
    with Beside(words) as sanitizers:
        passed = style()
        tests = pytest.main(limits, plugins=[Seconds(sanitizers)])
        passed.append(sanitizers.end()[0])
    return 0 if all(passed) and tests == 0 else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
