"""This installation, as a report of a mistake needs it (`uncore engines --report`).

facts() -> {what: how it is here}     texts without names of users, hosts and folders
show(as_json)                         a line for each, to paste
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

DIGITS = 12  # suffice to tell copies by their hash


def facts() -> dict[str, str]:
    python = f"{platform.python_implementation()} {platform.python_version()}"
    libc = " ".join(platform.libc_ver())
    engines = {f"engine {name}": _state(name) for name in engine.names()}
    return {
        "uncore": f"{__version__}, copy {copy.content()[:DIGITS]}",
        "python": f"{python}, {platform.python_compiler()}",
        "platform": f"{platform.system()} {platform.release()}, {platform.machine()}, {libc}",
        "compiler": compiler(Path(_native.__file__)),
        **engines,
        "host cores": f"{len(os.sched_getaffinity(0))} of {os.cpu_count()} may be used",
    }


def _state(name: str) -> str:
    """The engine's version where it is another simulator's."""
    return engine.missing(name) or f"ready {engine.version(name)}".strip()


def compiler(module: Path) -> str:
    """The compilers and linkers that an ELF file names in its section .comment, each once."""
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
    here = facts()
    if as_json:
        print_json(here)
    else:
        print(*(plain(f"{what}: {text}") for what, text in here.items()), sep="\n")
