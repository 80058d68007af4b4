"""Finds the C++ compiler that SConstruct uses."""

import os
import shlex
import shutil
import sys


def words() -> list[str]:
    installed = os.environ.get("CXX") or next(filter(shutil.which, ("g++", "clang++")), None)
    return shlex.split(installed) if installed else [sys.executable, "-m", "ziglang", "c++"]
