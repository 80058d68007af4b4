"""Finds another simulator.

    program(stated, ["sst"], ["", "bin"]) -> Path             or None
    nowhere("SST", stated, ...) -> str                        what is said of None
    output([program, "--version"]) -> str                   what a program says; "" if it fails

It is the user's: it is found, never installed, and nothing else needs it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

QUESTION_TIMEOUT_S = 60


def program(named: str | None, names: Sequence[str], folders: Sequence[str]) -> Path | None:
    """Path of the program: below the path that the user gives (the program, or a folder with it in
    `folders`), else on PATH.
    """
    if named:
        inside = [Path(named) / folder / name for folder in folders for name in names]
        places = [Path(named), *inside]
    else:
        places = [Path(path) for name in names if (path := shutil.which(name))]
    usable = (
        candidate for candidate in places if candidate.is_file() and os.access(candidate, os.X_OK)
    )
    return next((candidate.resolve() for candidate in usable), None)


def nowhere(name: str, named: str | None, ways: str, where: str) -> str:
    """There is none; `ways` to say where, and how to get it."""
    return f"no {name} in {named} ({ways}). {where}" if named else f"no {name}. {where}"


def version(text: str) -> tuple[int, ...]:
    """The first two numbers of one; () of none."""
    parts = text.split(".")[:2]
    return tuple(int(part) for part in parts) if all(part.isdigit() for part in parts) else ()


def output(command: Sequence[str | Path]) -> str:
    """Its standard output."""
    try:
        ended = subprocess.run(command, capture_output=True, text=True, timeout=QUESTION_TIMEOUT_S)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return ended.stdout
