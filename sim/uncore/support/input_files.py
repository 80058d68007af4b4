"""Files that somebody gives: read whole, and no further than a bound.

    read_bounded(path, most) -> bytes     UserError where there is more

Invariant: nothing is read, and no memory taken, beyond the bound; a device without an end is no
exception.
"""

from __future__ import annotations

from pathlib import Path

from uncore.errors import UserError


def read_bounded(path: Path, most: int) -> bytes:
    """OSError stays: its caller knows what the file is for."""
    with open(path, "rb") as file:
        if len(data := file.read(most + 1)) <= most:
            return data
    raise UserError(f"{path}: larger than {most >> 20} MiB, which is the most that is read")
