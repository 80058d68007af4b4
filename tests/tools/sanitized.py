"""Does native code access memory outside its objects, or have undefined behaviour?

    python -m tests.tools.sanitized [--all] [SUITE...]

Builds the native module with AddressSanitizer, UBSan and the assertions of the C++ library, and
runs the suites that execute native code with it. `SUITE...` runs other suites, and `--all` also
runs the tests marked `long` and `bulk`. The first fault ends the run and prints where it happened.

Interface for tests/tools/suites.py: `build()`, which starts only the build, so that it can run at
the same time as other work. The exit status is 0 if all tests passed, otherwise 1.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
VARIANT = "native-sanitize"  # folder into which SConstruct builds the module
SUITES = """
    engine isa litmus deviations protocol determinism differential/native_alone.py
    differential/test_differences_are_found.py guest/test_bad_programs.py
    guest/test_random_guests.py cli/test_edited_results.py cli/test_corpus.py
""".split()
QUICK = ["-m", "not long and not bulk"]
ON_ALL_CORES = ["-n", "auto", "--dist", "worksteal"]  # options of pytest-xdist


def build() -> subprocess.Popen[bytes]:
    """Starts the build of the module."""
    command = [sys.executable, "-m", "SCons", "-Q", "-s", "--sanitize", "native"]
    return subprocess.Popen([*command, f"-j{os.cpu_count()}"], cwd=TOP)


def _library(name: str) -> str:
    compiler = os.environ.get("CXX", "g++")
    return subprocess.check_output([compiler, f"-print-file-name={name}"], text=True).strip()


def _environment() -> dict[str, str]:
    """Returns an environment that loads the sanitizer first, and then the C++ library, whose
    `throw` the sanitizer wraps.
    """
    libraries = [_library(name) for name in ("libasan.so", "libstdc++.so")]
    return {
        **os.environ,
        "UNCORE_NATIVE": VARIANT,
        "LD_PRELOAD": " ".join(libraries),
        "ASAN_OPTIONS": "detect_leaks=0",  # Python does not free all its memory at its end
        "UBSAN_OPTIONS": "print_stacktrace=1",
    }


def main(arguments: Sequence[str]) -> int:
    """Builds the module, then replaces this process by pytest, so that it does not return."""
    everything = "--all" in arguments
    suites = [word for word in arguments if word != "--all"] or SUITES
    if build().wait() != 0:
        return 1
    # pytest must not capture the output that a sanitizer writes when the process dies, and Python's
    # faulthandler must not print a traceback, too.
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
