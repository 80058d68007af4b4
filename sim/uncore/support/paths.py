"""Paths of all files that are not Python; only this module knows the two layouts.

    in a checkout      topologies/, workloads/ (sources), build/workloads/ (ELFs), build/native/
    in a wheel         uncore/data/..., filled by the table in hatch_build.py; uncore/_native.*.so

`find_native()` is called once when the package is imported; then `from uncore import _native` works
in both layouts.  In a checkout, the environment variable UNCORE_NATIVE names another build of the
module (native-sanitize).
"""

from __future__ import annotations

import os
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]
CHECKOUT = PACKAGE.parents[1] if (PACKAGE.parents[1] / "SConstruct").is_file() else None

TOPOLOGIES = CHECKOUT / "topologies" if CHECKOUT else PACKAGE / "data/topologies"
WORKLOADS = CHECKOUT / "workloads" if CHECKOUT else PACKAGE / "data/workloads"
GUESTS = CHECKOUT / "build/workloads" if CHECKOUT else PACKAGE / "data/guests"
LESSONS = CHECKOUT / "docs/lessons" if CHECKOUT else PACKAGE / "data/lessons"
SST = CHECKOUT / "sim/sst" if CHECKOUT else PACKAGE / "data/sst"
GEM5 = CHECKOUT / "sim/gem5" if CHECKOUT else PACKAGE / "data/gem5"
SST_ELEMENT = CHECKOUT / "build/sst" if CHECKOUT else PACKAGE / "data/sst"

# folder of files that runs create and that the user may delete, such as compiled guests
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "uncore"


def find_native(package_path: list[str]) -> None:
    """Adds the checkout's build of the native module to the package's search path."""
    if CHECKOUT:
        package_path.append(str(CHECKOUT / "build" / os.environ.get("UNCORE_NATIVE", "native")))
