"""Packs a user's folder for a kernel, as a cpio archive that follows the initial RAM disk.

`append_folder(initrd, folder)` returns the initial RAM disk with the folder's content as /files.
Invariant: equal contents, permissions and names give equal bytes; times and owners are left out.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from uncore.errors import UserError

ARCHIVE_FOLDER = "files"
_ALIGNMENT = 4  # alignment of archives in bytes; the kernel ignores zeros between two archives
_TRAILER = "TRAILER!!!"


def append_folder(initrd: bytes, folder: Path) -> bytes:
    if not folder.is_dir():
        raise UserError(f"--files {folder}: not a folder; name one whose content is wanted")
    try:
        return _padded(initrd) + b"".join(_entries(folder))
    except OSError as error:
        raise UserError(f"--files {error.filename}: {error.strerror}") from None


def _entries(folder: Path) -> Iterator[bytes]:
    yield _entry(1, ARCHIVE_FOLDER, stat.S_IFDIR | 0o755, b"")
    for number, path in enumerate(sorted(folder.rglob("*")), start=2):
        name = f"{ARCHIVE_FOLDER}/{path.relative_to(folder)}"
        mode = path.lstat().st_mode
        yield _entry(number, name, mode, _content(path, mode))
    yield _entry(0, _TRAILER, 0, b"")


def _content(path: Path, mode: int) -> bytes:
    if stat.S_ISLNK(mode):
        return os.fsencode(os.readlink(path))
    if stat.S_ISDIR(mode):
        return b""
    if stat.S_ISREG(mode):
        return path.read_bytes()
    raise UserError(f"--files {path}: neither a file, a folder nor a link; take it away")


def _entry(number: int, name: str, mode: int, data: bytes) -> bytes:
    """Encodes an entry (Linux, Documentation/driver-api/early-userspace/buffer-format.rst)."""
    encoded_name = os.fsencode(name) + b"\0"
    owner, group, links, time, device = 0, 0, 1, 0, 0
    fields = (
        number, mode, owner, group, links, time, len(data), device, device, device, device,
        len(encoded_name), 0,
    )  # fmt: skip
    head = b"070701" + b"".join(b"%08x" % field for field in fields)
    return _padded(head + encoded_name) + _padded(data)


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % _ALIGNMENT)
