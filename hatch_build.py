"""The build hook: SCons builds, the wheel carries.

An editable install only builds: `uncore.paths` then finds everything in the checkout.  A wheel gets
the native module beside the package's sources and what is not Python under uncore/data/.
"""

import os
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

# From the checkout into the package; `uncore.paths` is the reader of this table.
CARRIED = {
    "topologies": "uncore/data/topologies",
    "workloads": "uncore/data/workloads",
    "build/workloads": "uncore/data/guests",
    "sim/gem5": "uncore/data/gem5",
    "sim/sst/configuration.py": "uncore/data/sst/configuration.py",
    "build/sst/libuncore.so": "uncore/data/sst/libuncore.so",  # where SST was found
}


class NativeBuild(BuildHookInterface):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        top = Path(self.root)
        jobs = f"-j{os.cpu_count() or 1}"
        build = subprocess.run([sys.executable, "-m", "SCons", "-Q", "-s", jobs], cwd=top)
        if build.returncode:
            raise SystemExit("uncore: the native build failed; its messages are above")
        if version == "editable":
            return
        module = "_native" + str(sysconfig.get_config_var("EXT_SUFFIX"))
        build_data["pure_python"] = False
        build_data["infer_tag"] = True
        build_data["force_include"][str(top / "build/native" / module)] = f"uncore/{module}"
        for source, target in CARRIED.items():
            if (top / source).exists():
                build_data["force_include"][str(top / source)] = target
