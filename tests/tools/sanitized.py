"""Does native code access memory that is not its own, or have undefined behaviour?

    python -m tests.tools.sanitized [--all] [SUITE...]

Builds the native module with AddressSanitizer, UBSan and the C++ library's own assertions, and runs
with it the suites that execute native code; `SUITE...` runs others, `--all` also the tests marked
`long` and `bulk`.  The first fault ends the run with the place where it happened.

Interface for tests/tools/suites.py: `build()`, the build alone, which may run beside other work.
Exit status: 0 if all passed, else 1.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
VARIANT = "native-sanitize"  # folder in which SConstruct builds it
SUITES = """
    engine isa litmus deviations protocol determinism differential/native_alone.py
    differential/test_differences_are_found.py guest/test_bad_programs.py
    guest/test_random_guests.py cli/test_edited_results.py cli/test_corpus.py
""".split()
QUICK = ["-m", "not long and not bulk"]
ON_ALL_CORES = ["-n", "auto", "--dist", "worksteal"]  # of pytest-xdist


def build() -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "SCons", "-Q", "-s", "--sanitize", "native"]
    return subprocess.Popen([*command, f"-j{os.cpu_count()}"], cwd=TOP)


def _library(name: str) -> str:
    compiler = os.environ.get("CXX", "g++")
    return subprocess.check_output([compiler, f"-print-file-name={name}"], text=True).strip()


def _environment() -> dict[str, str]:
    """Returns an environment that loads the sanitizer first, then the C++ library whose throw it
    wraps.
    """
    libraries = [_library(name) for name in ("libasan.so", "libstdc++.so")]
    return {
        **os.environ,
        "UNCORE_NATIVE": VARIANT,
        "LD_PRELOAD": " ".join(libraries),
        "ASAN_OPTIONS": "detect_leaks=0",  # Python never frees everything
        "UBSAN_OPTIONS": "print_stacktrace=1",
    }


def main(arguments: Sequence[str]) -> int:
    """Builds the module, then replaces this process by pytest, so it does not return."""
    everything = "--all" in arguments
    suites = [word for word in arguments if word != "--all"] or SUITES
    if build().wait() != 0:
        return 1
    # pytest must not capture a sanitizer's output as the process dies, and Python's faulthandler
    # must not print a traceback of its own.
    pytest = [
        "-m",
        "pytest",
        "-q",
        "--capture=sys",
        *("-p", "no:faulthandler", "-W", "ignore:Unknown config option:pytest.PytestConfigWarning"),
        *ON_ALL_CORES,
    ]
    tests = [f"tests/{suite}" for suite in suites]
    command = [sys.executable, *pytest, *([] if everything else QUICK), *tests]
    os.chdir(TOP)
    os.execve(sys.executable, command, _environment())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
