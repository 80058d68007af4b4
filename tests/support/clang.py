"""Builds the native module with the pinned clang, in addition to the usual build."""

import os
import subprocess
import sys

from tests.support.one_process import alone

from uncore.support.paths import CHECKOUT


def build() -> None:
    """Builds the module unless it is already built. Only one process at a time builds it."""
    assert CHECKOUT
    scons = [sys.executable, "-m", "SCons", "-Q", "-s", f"-j{os.cpu_count()}", "--clang", "native"]
    with alone("native-clang"):
        built = subprocess.run(scons, cwd=CHECKOUT, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
