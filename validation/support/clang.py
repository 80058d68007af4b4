"""The native module built by the pinned clang, beside the usual one."""

import os
import subprocess
import sys

from uncore.paths import CHECKOUT


def build() -> None:
    """Builds it, where it is not."""
    assert CHECKOUT
    scons = [sys.executable, "-m", "SCons", "-Q", "-s", f"-j{os.cpu_count()}", "--clang", "native"]
    built = subprocess.run(scons, cwd=CHECKOUT, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
