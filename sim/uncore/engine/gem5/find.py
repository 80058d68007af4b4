"""Finds gem5 and asks it for its abilities.

    locate(options) -> Gem5          or None: none where the options or PATH say
    missing(options) -> str         what must be built or renewed; "" when usable
    room(gem5, controllers) -> None or a UserError: its sets are too small

gem5 is the user's: it is found, never installed, and nothing else needs it.  It is asked which
instruction set, protocols and set size it was built for (sim/gem5/about.py).  A gem5 has one
protocol, since 24.1 also several.
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
from uncore.engine.outside.find import nowhere, output, program, version
from uncore.errors import UserError
from uncore.support import paths

OLDEST = (24, 0)  # the sources that were read
HOME = "UNCORE_GEM5, --gem5"
NAMES = ("gem5", "gem5.fast", "gem5.opt", "gem5.debug")
FOLDERS = ("", "bin", "build/RISCV", "build/ALL")
HOW = (
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
    bits: int  # the most controllers of a kind

    @property
    def usable(self) -> list[str]:
        """The protocols that this engine knows."""
        return [name for name in PROTOCOLS if name in self.protocols]

    def __str__(self) -> str:
        isa = "RISC-V" if self.riscv else "no RISC-V"
        names = " ".join(self.protocols) or "no protocol"
        return f"gem5 {self.version} with {isa}, {names}, sets of {self.bits}"


def locate(options: Options) -> Gem5 | None:
    there = program(options.gem5, NAMES, FOLDERS)
    return _ask(there) if there else None


@lru_cache
def _ask(there: Path) -> Gem5:
    with tempfile.TemporaryDirectory(prefix="uncore-gem5-") as scratch:
        output_ = output([there, "-q", "-d", scratch, paths.GEM5 / "about.py"])
    answer = re.search(r"^uncore: (\{.*\})$", output_, re.M)
    if not answer:
        return Gem5(there, "", False, (), 0)
    about = json.loads(answer[1])
    build = about["build"]
    return Gem5(
        there,
        str(about["version"]),
        bool(build.get("USE_RISCV_ISA")),
        tuple(_protocols(build)),
        int(build.get("NUMBER_BITS_PER_SET", 64)),
    )


def _protocols(build: Mapping[str, Any]) -> list[str]:
    """Named by one word, since 24.1 also by a switch for each; if several, the word is MULTIPLE."""
    switches = (key for key in build if key.startswith("RUBY_PROTOCOL_") and build[key] is True)
    names = sorted(key.removeprefix("RUBY_PROTOCOL_") for key in switches)
    if (protocol := build.get("PROTOCOL")) and protocol != "MULTIPLE":
        names = [protocol]
    return [name for name in PROTOCOLS if name in names] or names


def missing(options: Options) -> str:
    """The obstacle to using gem5, and its remedy; "" if there is none."""
    gem5 = locate(options)
    if gem5 is None:
        return nowhere("gem5", options.gem5, HOME, HOW_TO_GET)
    if not gem5.version:
        return f"{gem5.program} does not answer as gem5 does; write --gem5 PATH of its program"
    digits = version(gem5.version)
    if digits and digits < OLDEST:
        oldest = ".".join(map(str, OLDEST))
        return f"gem5 {gem5.version} is too old: write --gem5 PATH of {oldest} or newer"
    if not gem5.riscv:
        return f"{gem5.program} has no RISC-V; build one with it ({HOW})"
    if not gem5.usable:
        names = " or ".join(PROTOCOLS)
        return (
            f"{gem5.program} has the protocol {' '.join(gem5.protocols)}; build one with {names}"
            f" ({HOW})"
        )
    return ""


def room(gem5: Gem5, controllers: int) -> None:
    """Sets of controllers have a fixed size, of which a build decides."""
    if controllers > gem5.bits:
        raise UserError(
            f"{controllers} controllers of one kind, and {gem5.program} was built for"
            f" {gem5.bits}: build it with NUMBER_BITS_PER_SET={controllers} or more, or use fewer"
            " --threads"
        )
