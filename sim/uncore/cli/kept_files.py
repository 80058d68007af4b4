"""Writes the files that Linux programs have made or changed (--keep DIR).

    check(folder)                before a run: refuses a folder that is not new or empty
    keep(folder, files)          writes files at their paths below the folder; reports files that
                                 are too large

Invariant: nothing is written outside the folder, because an empty folder holds no link, and a
guest's file names hold no slash.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from uncore.cli.options import note
from uncore.errors import UserError
from uncore.support.output_files import write_whole

File = tuple[bytes, bytes | None]  # path from the root; content, or None if that is too large


def check(folder: Path) -> None:
    if folder.is_symlink() or (folder.exists() and (not folder.is_dir() or any(folder.iterdir()))):
        raise UserError(f"--keep {folder}: not empty; write a folder that is new or empty")


def keep(folder: Path, files: Sequence[File]) -> None:
    for name, content in files:
        path = folder / os.fsdecode(name).lstrip("/")
        if content is None:
            note(f"{path}: not written, it is too large")
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, content)
    note(f"files kept: {sum(content is not None for _, content in files)} in {folder}")
