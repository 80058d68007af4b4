"""The native module built by the pinned clang, beside the usual one."""

import fcntl
import os
import subprocess
import sys

from uncore.support.paths import CHECKOUT


def build() -> None:
    """Builds it, where it is not; one process at a time."""
    assert CHECKOUT
    scons = [sys.executable, "-m", "SCons", "-Q", "-s", f"-j{os.cpu_count()}", "--clang", "native"]
    with open(CHECKOUT / "build/native-clang.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        built = subprocess.run(scons, cwd=CHECKOUT, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
