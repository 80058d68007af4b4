"""A folder of files from a user's runs that stays within a size limit.

`trim(newest, most)` deletes the oldest files of a folder, until it holds at most `most` bytes or
only the file `newest`.
"""

from __future__ import annotations

from pathlib import Path


def trim(newest: Path, most: int) -> None:
    files = [(file.stat(), file) for file in newest.parent.iterdir() if file != newest]
    free_bytes = most - newest.stat().st_size
    for status, file in sorted(files, key=lambda entry: -entry[0].st_mtime_ns):
        free_bytes -= status.st_size
        if free_bytes < 0:
            file.unlink(missing_ok=True)
