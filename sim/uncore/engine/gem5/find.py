"""Finds gem5 and reads its version, instruction set and protocols.

    locate(options) -> Gem5      or None if neither the options nor PATH lead to one
    missing(options) -> str      what must be built or renewed; "" when usable
    check_controller_count(gem5, controllers)
                                 raises a UserError if the build supports fewer controllers

The user installs gem5; this module only looks for it, and nothing else needs it.  It reports the
instruction set, the protocols and the number of controllers that it was built for
(sim/gem5/about.py).  A build has one protocol, or since 24.1 several.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from uncore.engine.gem5.options import Options
from uncore.engine.gem5.protocols import PROTOCOLS
from uncore.engine.outside.find import not_found_message, output, program, version
from uncore.errors import UserError
from uncore.support import paths

OLDEST_GEM5 = (24, 0)  # the version whose sources were read
PATH_SETTINGS = "UNCORE_GEM5, --gem5"
PROGRAM_NAMES = ("gem5", "gem5.fast", "gem5.opt", "gem5.debug")
PROGRAM_FOLDERS = ("", "bin", "build/RISCV", "build/ALL")
HOW_TO_BUILD = (
    "scons build/RISCV/gem5.opt, with USE_RISCV_ISA and RUBY_PROTOCOL_MESI_Two_Level set (in"
    " capitals before 24.1)"
)
HOW_TO_GET = "https://www.gem5.org has it; then say where: --gem5 PATH, UNCORE_GEM5, or PATH"


@dataclass(frozen=True)
class Gem5:
    program: Path
    version: str  # "24.0.0.1"; "" if the program did not answer
    riscv: bool
    protocols: tuple[str, ...]
    bits: int  # size of gem5's sets: the maximum number of controllers of one kind

    @property
    def usable(self) -> list[str]:
        """Protocols that this engine supports and the build contains."""
        return [name for name in PROTOCOLS if name in self.protocols]

    def __str__(self) -> str:
        isa = "RISC-V" if self.riscv else "no RISC-V"
        names = " ".join(self.protocols) or "no protocol"
        return f"gem5 {self.version} with {isa}, {names}, sets of {self.bits}"


def locate(options: Options) -> Gem5 | None:
    path = program(options.gem5, PROGRAM_NAMES, PROGRAM_FOLDERS)
    return _ask(path) if path else None


@lru_cache
def _ask(path: Path) -> Gem5:
    with tempfile.TemporaryDirectory(prefix="uncore-gem5-") as scratch:
        output_ = output([path, "-q", "-d", scratch, paths.GEM5 / "about.py"])
    answer = re.search(r"^uncore: (\{.*\})$", output_, re.M)
    if not answer:
        return Gem5(path, "", False, (), 0)
    about = json.loads(answer[1])
    build = about["build"]
    return Gem5(
        path,
        str(about["version"]),
        bool(build.get("USE_RISCV_ISA")),
        tuple(_protocols(build)),
        int(build.get("NUMBER_BITS_PER_SET", 64)),
    )


def _protocols(build: Mapping[str, Any]) -> list[str]:
    """Returns a build's protocols: the word PROTOCOL or, if that is MULTIPLE (since 24.1), each
    protocol whose switch is set.
    """
    switches = (key for key in build if key.startswith("RUBY_PROTOCOL_") and build[key] is True)
    names = sorted(key.removeprefix("RUBY_PROTOCOL_") for key in switches)
    if (protocol := build.get("PROTOCOL")) and protocol != "MULTIPLE":
        names = [protocol]
    return [name for name in PROTOCOLS if name in names] or names


def missing(options: Options) -> str:
    """Returns the obstacle to using gem5, with its remedy; "" if there is none."""
    gem5 = locate(options)
    if gem5 is None:
        return not_found_message("gem5", options.gem5, PATH_SETTINGS, HOW_TO_GET)
    if not gem5.version:
        return f"{gem5.program} does not answer as gem5 does; write --gem5 PATH of its program"
    digits = version(gem5.version)
    if digits and digits < OLDEST_GEM5:
        oldest = ".".join(map(str, OLDEST_GEM5))
        return f"gem5 {gem5.version} is too old: write --gem5 PATH of {oldest} or newer"
    if not gem5.riscv:
        return f"{gem5.program} has no RISC-V; build one with it ({HOW_TO_BUILD})"
    if not gem5.usable:
        names = " or ".join(PROTOCOLS)
        return (
            f"{gem5.program} has the protocol {' '.join(gem5.protocols)}; build one with {names}"
            f" ({HOW_TO_BUILD})"
        )
    return ""


def check_controller_count(gem5: Gem5, controllers: int) -> None:
    """Raises a UserError if the build supports fewer controllers of one kind."""
    if controllers > gem5.bits:
        raise UserError(
            f"{controllers} controllers of one kind, and {gem5.program} was built for"
            f" {gem5.bits}: build it with NUMBER_BITS_PER_SET={controllers} or more, or use fewer"
            " --threads"
        )
