"""Keeps a folder of files from a user's runs within a size limit.

`trim(newest, max_bytes)` deletes the oldest files of a folder, until it holds at most `max_bytes`
bytes or only the file `newest`.
"""

from __future__ import annotations

from pathlib import Path


def trim(newest: Path, max_bytes: int) -> None:
    files = [(file.stat(), file) for file in newest.parent.iterdir() if file != newest]
    free_bytes = max_bytes - newest.stat().st_size
    for status, file in sorted(files, key=lambda entry: -entry[0].st_mtime_ns):
        free_bytes -= status.st_size
        if free_bytes < 0:
            file.unlink(missing_ok=True)
