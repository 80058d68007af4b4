"""Describes this installation for a bug report (`uncore engines --report`).

facts() -> {fact: value}     texts, which contain no names of users, hosts and folders
show(as_json)                prints a line for each fact
"""

from __future__ import annotations

import os
import platform
from pathlib import Path

from uncore import _native, engine
from uncore.drawing.table import print_json
from uncore.engine import copy
from uncore.support.printable import plain
from uncore.support.version import __version__

HASH_DIGITS_SHOWN = 12  # digits of a hash that suffice to distinguish copies


def facts() -> dict[str, str]:
    python = f"{platform.python_implementation()} {platform.python_version()}"
    libc = " ".join(platform.libc_ver())
    engines = {f"engine {name}": _state(name) for name in engine.names()}
    return {
        "uncore": f"{__version__}, copy {copy.content()[:HASH_DIGITS_SHOWN]}",
        "python": f"{python}, {platform.python_compiler()}",
        "platform": f"{platform.system()} {platform.release()}, {platform.machine()}, {libc}",
        "compiler": compiler(Path(_native.__file__)),
        **engines,
        "host cores": f"{len(os.sched_getaffinity(0))} of {os.cpu_count()} may be used",
    }


def _state(name: str) -> str:
    """Returns the reason why an engine is not usable; if it is, "ready" and the version of the
    simulator that it runs.
    """
    return engine.missing(name) or f"ready {engine.version(name)}".strip()


def compiler(module: Path) -> str:
    """Returns the compilers and linkers that an ELF file's section .comment names."""
    from elftools.common.exceptions import ELFError  # noqa: PLC0415 (slow to load)
    from elftools.elf.elffile import ELFFile  # noqa: PLC0415 (slow to load)

    with module.open("rb") as file:
        try:
            section = ELFFile(file).get_section_by_name(".comment")
        except ELFError:
            return "unknown: no ELF file"
        words = section.data().decode(errors="replace").split("\0") if section else []
    return "; ".join(dict.fromkeys(filter(None, words))) or "unknown: the file names none"


def show(as_json: bool) -> None:
    facts_here = facts()
    if as_json:
        print_json(facts_here)
    else:
        print(*(plain(f"{what}: {text}") for what, text in facts_here.items()), sep="\n")
