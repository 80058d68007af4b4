"""Reads a Linux program's inputs on this computer: a folder of files, and its standard input.

All files are read immediately.  A link is followed if its target is below the same folder; other
links are refused, so that no other file of this computer becomes part of a job.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

from uncore.errors import UserError

MAX_FILES_BYTES = 1 << 26  # maximum size of all files together, which become part of the job


def read_folder(folder: Path) -> tuple[tuple[str, bytes], ...]:
    """Returns each file's relative path and its bytes; an empty folder's path ends in a slash."""
    if not folder.is_dir():
        raise UserError(f"--files {folder}: not a folder")
    try:
        paths = sorted(_files(folder, folder.resolve()))
        if (size := sum(path.stat().st_size for path in paths if path.is_file())) > MAX_FILES_BYTES:
            raise UserError(
                f"--files {folder}: {size >> 20} MiB in {len(paths)} files; expected at most"
                f" {MAX_FILES_BYTES >> 20} MiB"
            )
        return tuple(_entry(path, path.relative_to(folder).as_posix()) for path in paths)
    except OSError as error:
        raise UserError(f"--files {folder}: {error.filename}: {error.strerror}") from None


def read_input(path: Path) -> bytes:
    """Returns the bytes of a file or a pipe; "-" is standard input."""
    try:
        if path == Path("-"):
            content = sys.stdin.buffer.read(MAX_FILES_BYTES + 1)
        else:
            with path.open("rb") as file:
                content = file.read(MAX_FILES_BYTES + 1)
    except OSError as error:
        raise UserError(f"--stdin {path}: {error.strerror}") from None
    if len(content) > MAX_FILES_BYTES:
        raise UserError(f"--stdin {path}: more than {MAX_FILES_BYTES >> 20} MiB, which is the most")
    return content


def _entry(path: Path, name: str) -> tuple[str, bytes]:
    return (f"{name}/", b"") if path.is_dir() else (name, path.read_bytes())


def _files(folder: Path, root: Path) -> Iterator[Path]:
    """Yields files and empty folders below a folder, without following links to folders."""
    entries = [Path(entry) for entry in os.scandir(folder)]
    if not entries and folder.resolve() != root:
        yield folder
    for path in entries:
        if path.is_symlink() and not path.resolve().is_relative_to(root):
            raise UserError(
                f"--files: {path} is a link that leads out of the folder, to {path.resolve()};"
                " copy what it leads to, or take the link away"
            )
        if path.is_dir() and not path.is_symlink():
            yield from _files(path, root)
        elif path.is_file():
            yield path
