"""Every check of the project, with its seconds: `python -m validation.suites [--all] [SUITE...]`.

Style and types come first, because they are quick; `--all` then runs the suites once more on the
native module built for AddressSanitizer and UBSan.  Last, pytest runs the suites in one process;
the plugin below prints what each folder of validation/ took.

Exit status: 0 when all passed, else 1.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parent.parent
TOOL = [sys.executable, "-m"]
QUICK = ["-m", "not long"]


def run(name: str, command: Sequence[str], environment: Mapping[str, str] | None = None) -> bool:
    """Runs one command, prints its seconds, and says whether it passed."""
    start = time.perf_counter()
    passed = subprocess.run(command, cwd=TOP, env=environment).returncode == 0
    seconds = time.perf_counter() - start
    print(f"{name:<16} {seconds:7.1f} s   {'passed' if passed else 'FAILED'}", flush=True)
    return passed


def style() -> list[bool]:
    """Format, lint and types of Python; format of C++."""
    python = ["sim", "validation", "benchmarks", "hatch_build.py", "SConstruct"]
    python += ["sim/native/SConscript", "workloads/SConscript"]
    native = [
        str(path)
        for folder in ("sim/native", "workloads", "benchmarks")
        for path in sorted((TOP / folder).rglob("*.[ch]*"))
    ]
    clang_format = str(Path(sys.executable).with_name("clang-format"))  # the locked one
    return [
        run("ruff format", [*TOOL, "ruff", "format", "--check", "--quiet", *python]),
        run("ruff check", [*TOOL, "ruff", "check", "--quiet", *python]),
        run("types", [*TOOL, "mypy"]),
        run("clang-format", [clang_format, "--dry-run", "--Werror", *native]),
    ]


def sanitized() -> list[bool]:
    """The suites on the native module with sanitizers, which Python must have loaded first."""
    build = [*TOOL, "SCons", "-Q", "-s", "--sanitize", "native"]
    if not run("sanitizer build", [*build, f"-j{os.cpu_count()}"]):
        return [False]
    # The C++ library too: the sanitizer wraps its throw, which must be there to be wrapped.
    libraries = [_library(name) for name in ("libasan.so", "libstdc++.so")]
    environment = {
        **os.environ,
        "UNCORE_NATIVE": "native-sanitize",
        "LD_PRELOAD": " ".join(libraries),
        "ASAN_OPTIONS": "detect_leaks=0",  # Python never frees everything
    }
    return [run("sanitizers", [*TOOL, "pytest", "--quiet", *QUICK, "validation"], environment)]


def _library(name: str) -> str:
    compiler = os.environ.get("CXX", "g++")
    return subprocess.check_output([compiler, f"-print-file-name={name}"], text=True).strip()


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
    passed = [] if suites else style()
    if everything:
        passed += sanitized()
    tests = pytest.main([*([] if everything else QUICK), *suites], plugins=[Seconds()])
    return 0 if all(passed) and tests == 0 else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
