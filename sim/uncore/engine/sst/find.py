"""Finds SST and checks that it can run uncore's simulations.

    locate(options) -> Sst            or None if neither the options nor PATH lead to `sst`
    missing(options) -> str           what must be installed, built or renewed; "" when usable
    launcher(options) -> list[str]    the command that starts SST in several processes; [] for one

The user installs SST; this module only looks for it, and nothing else needs it.  `sst-config
SST_ELEMENT_LIBRARY SST_ELEMENT_LIBRARY_LIBDIR` prints the folder of its elements.  uncore's element
is built for the installed SST, in a checkout by `python -m SCons sst`, in a package by
`pip install .`.
"""

from __future__ import annotations

import os
import re
import shutil
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from uncore.engine.outside.find import not_found_message, output, program, version
from uncore.engine.sst.options import MESHES, Options
from uncore.support import paths

ELEMENTS = ("memHierarchy", "merlin")
MPIEXEC = "mpiexec"  # the name that the MPI standard recommends
# Environment variables with which Open MPI starts processes as root (its manual page mpirun(1),
# "Running as root").
ROOT_VARIABLES = ("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM")
OLDEST_SST = (15, 0)  # the first version with the event-handler templates that the element uses
PATH_SETTINGS = "UNCORE_SST, --sst"
LIBRARY_FILE = "libuncore.so"
HOW_TO_GET = "https://sst-simulator.org has it; then say where: --sst PREFIX, UNCORE_SST, or PATH"


@dataclass(frozen=True)
class Sst:
    program: Path  # bin/sst
    version: str  # "15.1.0"; "development" for a checkout
    elements: tuple[str, ...]  # those of ELEMENTS and MESHES that are installed
    mpi: bool  # True if built for several processes

    def __str__(self) -> str:
        parts = [*self.elements, *(["MPI"] if self.mpi else [])]
        return f"SST {self.version} with {', '.join(parts) or 'no elements'}"


def locate(options: Options) -> Sst | None:
    path = program(options.sst, ["sst"], ["", "bin"])
    return _ask(path) if path else None


@lru_cache
def _ask(path: Path) -> Sst:
    number = re.search(r"(\d+(?:\.\d+)+)", output([path, "--version"]))
    group = "SST_ELEMENT_LIBRARY"
    config = path.parent / "sst-config"
    folder = Path(output([config, group, f"{group}_LIBDIR"]).strip() or "/nowhere")
    usable = dict.fromkeys((*ELEMENTS, *MESHES))
    elements = tuple(name for name in usable if (folder / f"lib{name}.so").is_file())
    mpi = "mpi" in output([config, "--MPICXX"])
    return Sst(path, number[1] if number else "development", elements, mpi)


def element_folder() -> Path | None:
    """Returns the folder that contains uncore's element, or None."""
    folder = paths.SST_ELEMENT
    return folder if (folder / LIBRARY_FILE).is_file() else None


def missing(options: Options) -> str:
    """Returns the obstacle to using SST, with its remedy; "" if there is none."""
    sst = locate(options)
    if sst is None:
        return not_found_message("SST", options.sst, PATH_SETTINGS, HOW_TO_GET)
    installed_version = version(sst.version)
    if installed_version and installed_version < OLDEST_SST:
        oldest = ".".join(map(str, OLDEST_SST))
        return f"SST {sst.version} is too old: write --sst PREFIX of {oldest} or newer"
    needed = dict.fromkeys((*ELEMENTS, options.sst_mesh))
    if lacking := [name for name in needed if name not in sst.elements]:
        return (
            f"{sst.program} has no {' and no '.join(lacking)}, which sst-elements has: configure"
            " that with --with-sst-core and install it"
        )
    if element_folder() is None:
        build = "python -m SCons sst" if paths.CHECKOUT else "pip install --force-reinstall ."
        return (
            f"our element for it is not built: run `UNCORE_SST={sst.program.parent.parent} {build}`"
            " in a checkout"
        )
    return _missing_for_ranks(sst) if options.sst_ranks > 1 else ""


def _missing_for_ranks(sst: Sst) -> str:
    if not sst.mpi:
        return f"{sst.program} was built without MPI; write --sst-ranks 1, or build SST with MPI"
    if not shutil.which(MPIEXEC):
        return f"{MPIEXEC}, which starts --sst-ranks processes, is not on PATH: install an MPI"
    allowed = all(os.environ.get(name) == "1" for name in ROOT_VARIABLES)
    if os.geteuid() == 0 and not allowed and "open-mpi" in output([MPIEXEC, "--version"]):
        first, second = ROOT_VARIABLES
        return (
            f"Open MPI starts no processes as root: set {first}=1 and {second}=1, or run as"
            " another user"
        )
    return ""


def launcher(options: Options) -> list[str]:
    return [MPIEXEC, "-n", str(options.sst_ranks)] if options.sst_ranks > 1 else []
