"""Finds another simulator, which the user has installed.

    program(named, ["sst"], ["", "bin"]) -> Path     the simulator's program, or None
    not_found_message("SST", named, ...) -> str      the message if there is none
    output([program, "--version"]) -> str            a program's output; "" if it fails

uncore never installs a simulator, and needs it only for the engine that runs it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

QUESTION_TIMEOUT_S = 60


def program(named: str | None, names: Sequence[str], folders: Sequence[str]) -> Path | None:
    """Returns the program's path, or None.

    It is searched at the path `named`, if the user has given one, which is the program itself or a
    folder that has it in one of `folders`; otherwise on PATH.
    """
    if named:
        paths_in_folders = [Path(named) / folder / name for folder in folders for name in names]
        candidates = [Path(named), *paths_in_folders]
    else:
        candidates = [Path(path) for name in names if (path := shutil.which(name))]
    usable = (
        candidate
        for candidate in candidates
        if candidate.is_file() and os.access(candidate, os.X_OK)
    )
    return next((candidate.resolve() for candidate in usable), None)


def not_found_message(name: str, named: str | None, options: str, how_to_get: str) -> str:
    """Returns the message that the simulator was not found.

    `named` is the path that the user gave, by the `options` listed; `how_to_get` explains where the
    simulator comes from.
    """
    place = f" in {named} ({options})" if named else ""
    return f"no {name}{place}. {how_to_get}"


def version(text: str) -> tuple[int, ...]:
    """Returns the first two numbers of a version; () if it has none."""
    parts = text.split(".")[:2]
    return tuple(int(part) for part in parts) if all(part.isdigit() for part in parts) else ()


def output(command: Sequence[str | Path]) -> str:
    """Returns the command's standard output; "" if it fails."""
    try:
        process = subprocess.run(
            command, capture_output=True, text=True, timeout=QUESTION_TIMEOUT_S
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return process.stdout
