"""A folder that a user's runs fill, and that stays within bounds.

Interface: `trim(newest, most)`: the folder of a file that was just written holds at most `most`
bytes, or that file; the oldest are deleted.
"""

from __future__ import annotations

from pathlib import Path


def trim(newest: Path, most: int) -> None:
    files = [(file.stat(), file) for file in newest.parent.iterdir() if file != newest]
    room = most - newest.stat().st_size
    for about, file in sorted(files, key=lambda entry: -entry[0].st_mtime_ns):
        room -= about.st_size
        if room < 0:
            file.unlink(missing_ok=True)
