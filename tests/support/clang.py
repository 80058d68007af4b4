"""The native module built by the pinned clang, next to the usual build."""

import os
import subprocess
import sys

from tests.support.one_process import alone

from uncore.support.paths import CHECKOUT


def build() -> None:
    """Builds the module if it is not built. Only one process at a time does so."""
    assert CHECKOUT
    scons = [sys.executable, "-m", "SCons", "-Q", "-s", f"-j{os.cpu_count()}", "--clang", "native"]
    with alone("native-clang"):
        built = subprocess.run(scons, cwd=CHECKOUT, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
