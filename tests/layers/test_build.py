"""Is the native module built by the right compiler? SCons prints its commands without running
them.
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from uncore.support.paths import CHECKOUT


def commands(*options: str, **environment: str) -> str:
    variables = {name: value for name, value in os.environ.items() if name != "CXX"}
    command = [sys.executable, "-m", "SCons", "-n", "-Q", "--commands", *options, "native"]
    dry_run = subprocess.run(
        command, cwd=CHECKOUT, env=variables | environment, capture_output=True
    )
    return (dry_run.stdout + dry_run.stderr).decode()


def test_zigs_compiler_is_used_if_the_host_has_no_compiler(tmp_path):
    assert "-m ziglang c++ -o build/native/" in commands(PATH=str(tmp_path))


def test_missing_compiler_is_reported(tmp_path):
    assert "'no-such-c++' was not found" in commands(PATH=str(tmp_path), CXX="no-such-c++")


@pytest.mark.parametrize("architecture", ["x86_64", "aarch64"])
def test_wheels_are_compiled_for_glibc_2_28_and_any_processor(architecture):
    printed = commands(f"--wheel={architecture}")
    if f"build/native-{architecture}" not in printed:
        pytest.skip("the wheels are up to date")
    assert f"-target {architecture}-linux-gnu.2.28 -mcpu=baseline" in printed
    assert f"{architecture}-linux-gnu.so" in printed
