"""Does the plugin that follows a kernel in QEMU (follower.cc, test_kernel.py) build with today's
hart?
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

HERE = Path(__file__).parent
NATIVE = HERE.parents[1] / "sim" / "native"


def test_plugin_compiles_against_the_hart() -> None:
    compiler = os.environ.get("CXX", "c++").split()
    command = [*compiler, "-std=c++20", "-fsyntax-only", f"-I{NATIVE}", str(HERE / "follower.cc")]
    checked = subprocess.run(command, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stderr
