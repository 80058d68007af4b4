"""The native module built by the pinned clang, beside the usual one."""

import os
import subprocess
import sys

from tests.support.one_process import alone

from uncore.support.paths import CHECKOUT


def build() -> None:
    """Builds the module, where it is not built; one process at a time."""
    assert CHECKOUT
    scons = [sys.executable, "-m", "SCons", "-Q", "-s", f"-j{os.cpu_count()}", "--clang", "native"]
    with alone("native-clang"):
        built = subprocess.run(scons, cwd=CHECKOUT, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
