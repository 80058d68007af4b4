"""The build hook of the package: runs SCons, and puts the results into the wheel.

An editable install is only built: `uncore.support.paths` then finds everything in the checkout.  A
wheel contains the native module beside the sources of the package, and all files that are not
Python under uncore/data.  With UNCORE_WHEEL=aarch64 (or x86_64) the wheel is for any Linux on this
architecture (scripts/wheels).
"""

import os
import subprocess
import sys
import sysconfig
from pathlib import Path
from platform import machine
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

# Maps files and folders of the checkout to their places in the package, where uncore.support.paths
# finds them.
PACKAGE_DATA = {
    "topologies": "uncore/data/topologies",
    "workloads": "uncore/data/workloads",
    "docs/lessons": "uncore/data/lessons",
    "build/workloads": "uncore/data/guests",
    "sim/gem5": "uncore/data/gem5",
    "sim/sst/configuration.py": "uncore/data/sst/configuration.py",
    "build/sst/libuncore.so": "uncore/data/sst/libuncore.so",  # exists if SST was found
}


class NativeBuild(BuildHookInterface):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        top = Path(self.root)
        jobs = f"-j{os.cpu_count() or 1}"
        architecture = os.environ.get("UNCORE_WHEEL")
        targets = [f"--wheel={architecture}", "native", "workloads"] if architecture else []
        build = subprocess.run([sys.executable, "-m", "SCons", "-Q", "-s", jobs, *targets], cwd=top)
        if build.returncode:
            raise SystemExit("uncore: the native build failed; its messages are above")
        if version == "editable":
            return
        folder, suffix = "native", str(sysconfig.get_config_var("EXT_SUFFIX"))
        build_data["pure_python"] = False
        if architecture:
            folder, suffix = f"native-{architecture}", suffix.replace(machine(), architecture)
            python = f"cp{sys.version_info.major}{sys.version_info.minor}"
            build_data["tag"] = f"{python}-{python}-manylinux_2_28_{architecture}"
        else:
            build_data["infer_tag"] = True
        native_module = {f"build/{folder}/_native{suffix}": f"uncore/_native{suffix}"}
        for source, target in (PACKAGE_DATA | native_module).items():
            if (top / source).exists():
                build_data["force_include"][str(top / source)] = target
