"""Does the plugin that follows a kernel in QEMU (follower.cc, test_kernel.py) compile with the
current source of the hart (sim/native/hart)?
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

HERE = Path(__file__).parent
NATIVE = HERE.parents[1] / "sim" / "native"


def test_qemu_plugin_compiles_with_the_hart_library() -> None:
    compiler = os.environ.get("CXX", "c++").split()
    command = [*compiler, "-std=c++20", "-fsyntax-only", f"-I{NATIVE}", str(HERE / "follower.cc")]
    compilation = subprocess.run(command, capture_output=True, text=True, check=False)
    assert compilation.returncode == 0, compilation.stderr
