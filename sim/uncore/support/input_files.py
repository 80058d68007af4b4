"""Reads files that a user supplies, up to a size limit.

    read_bounded(path, max_bytes) -> bytes     raises a UserError if the file is larger

Invariant: even of an endless device, no more than the limit is read and stored.
"""

from __future__ import annotations

from pathlib import Path

from uncore.errors import UserError


def read_bounded(path: Path, max_bytes: int) -> bytes:
    """Reads a file of at most `max_bytes`.  The caller handles OSError, because it knows the
    purpose of the file.
    """
    with open(path, "rb") as file:
        if len(data := file.read(max_bytes + 1)) <= max_bytes:
            return data
    raise UserError(f"{path}: larger than {max_bytes >> 20} MiB, which is the most that is read")
