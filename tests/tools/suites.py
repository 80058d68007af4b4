"""Runs every check of the project and prints its time: `python -m tests.tools.suites [WORD...]`.

Style and types are checked first, because this is quick; at the same time, the native module is
built with sanitizers. Then the suites run in parallel processes (pytest-xdist), and the plugin
below prints the time of each folder of tests/. Finally, the suites that execute native code run in
parallel with sanitizers (sanitized.py).

`--quick` is for use between two edits. It checks style and types and runs the suites that test the
changed files (touched.py), without sanitizers and without tests marked `long` or `bulk`.

The exit status is 0 if all passed, otherwise 1.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.tools import sanitized, touched

TOP = Path(__file__).resolve().parents[2]
TOOL = [sys.executable, "-m"]
QUICK = ["-m", "not long"]


def run(name: str, command: Sequence[str]) -> bool:
    """Runs one command and prints its seconds. Returns True if it passed."""
    start = time.perf_counter()
    passed = subprocess.run(command, cwd=TOP).returncode == 0
    seconds = time.perf_counter() - start
    print(f"{name:<16} {seconds:7.1f} s   {'passed' if passed else 'FAILED'}", flush=True)
    return passed


def style() -> list[bool]:
    """Checks format and lint of Python and of web pages, types, import contracts, and the format of
    C++.
    """
    python = [
        "sim",
        "tests",
        "validation",
        "benchmarks",
        "docs/site",
        "hatch_build.py",
        "SConstruct",
    ]
    python += ["sim/native/SConscript", "sim/sst/SConscript", "workloads/SConscript"]
    native = [
        str(path)
        for folder in ("sim/native", "sim/sst", "tests/doubles", "workloads", "benchmarks")
        for path in sorted((TOP / folder).rglob("*.*"))
        if path.suffix in (".c", ".cc", ".h", ".hh")
    ]
    return [
        run("ruff format", [*TOOL, "ruff", "format", "--check", "--quiet", *python]),
        run("ruff check", [*TOOL, "ruff", "check", "--quiet", *python]),
        javascript(),
        run("types", [*TOOL, "mypy"]),
        run("imports", [locked_program("lint-imports"), "--no-cache", "--no-logo"]),
        run("clang-format", [locked_program("clang-format"), "--dry-run", "--Werror", *native]),
    ]


def javascript() -> bool:
    """Checks format and lint of web pages, if Biome has a wheel for this platform (Linux on
    x86-64).
    """
    biome = locked_program("biome")
    if not Path(biome).exists():
        print("javascript       skipped: no Biome for this machine", flush=True)
        return True
    return run("javascript", [biome, "check", "--error-on-warnings"])


def locked_program(program: str) -> str:
    """Returns the path of a program in the folder of this Python, which has the locked version."""
    return str(Path(sys.executable).with_name(program))


class Seconds:
    """A pytest plugin that counts the seconds and the results of each suite."""

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


def quick(arguments: Sequence[str]) -> int:
    if arguments:
        words = " ".join(arguments)
        print(
            f"scripts/test --quick {words}: expected no more words; write scripts/test {words}",
            file=sys.stderr,
        )
        return 2
    try:
        suites = touched.suites(touched.changed())
    except touched.NoMainBranch as error:
        print(error, file=sys.stderr)
        return 2
    passed = style()
    print(f"suites: {' '.join(suites)}", flush=True)
    tests = [f"tests/{suite}" for suite in suites]
    arguments = [*sanitized.ON_ALL_CORES, *sanitized.QUICK, "-q", *tests]
    passed.append(pytest.main(arguments, plugins=[Seconds()]) == 0)
    return 0 if all(passed) else 1


def main(arguments: Sequence[str]) -> int:
    if "--quick" in arguments:
        return quick([word for word in arguments if word != "--quick"])
    limits = [*sanitized.ON_ALL_CORES, *([] if "--all" in arguments else QUICK)]
    suites = [f"tests/{word}" for word in arguments if word != "--all"]
    if suites:
        return int(pytest.main([*limits, *suites], plugins=[Seconds()]) != 0)
    build = sanitized.build()
    passed = style()
    passed.append(build.wait() == 0)
    passed.append(pytest.main(limits, plugins=[Seconds()]) == 0)
    passed.append(run("sanitizers", [*TOOL, "tests.tools.sanitized", *arguments]))
    return 0 if all(passed) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
