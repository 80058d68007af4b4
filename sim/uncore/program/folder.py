"""A folder of files that a program of Linux may read: all of it, as it is now."""

from __future__ import annotations

from pathlib import Path

from uncore.errors import UserError

MOST = 1 << 26  # bytes of all files: they are part of the job


def read_folder(folder: Path) -> tuple[tuple[str, bytes], ...]:
    """Each file's path from there, and its bytes."""
    if not folder.is_dir():
        raise UserError(f"--files {folder}: not a folder")
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    if (size := sum(path.stat().st_size for path in paths)) > MOST:
        raise UserError(
            f"--files {folder}: {size >> 20} MiB in {len(paths)} files; expected at most"
            f" {MOST >> 20} MiB"
        )
    try:
        return tuple((path.relative_to(folder).as_posix(), path.read_bytes()) for path in paths)
    except OSError as error:
        raise UserError(f"--files {folder}: {error.filename}: {error.strerror}") from None
