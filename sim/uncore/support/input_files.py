"""Files that a user supplies: read whole, up to a size limit.

    read_bounded(path, most) -> bytes     raises a UserError if the file is larger

Invariant: no more than the limit is read or takes memory, even from an endless device.
"""

from __future__ import annotations

from pathlib import Path

from uncore.errors import UserError


def read_bounded(path: Path, most: int) -> bytes:
    """Reads at most `most` bytes.  OSError is left to the caller, who knows the file's purpose."""
    with open(path, "rb") as file:
        if len(data := file.read(most + 1)) <= most:
            return data
    raise UserError(f"{path}: larger than {most >> 20} MiB, which is the most that is read")
