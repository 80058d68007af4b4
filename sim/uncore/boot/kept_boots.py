"""Boots in the user's cache: a kernel whose shell has waited once is taken up there.

    find(boot)                     the run where its shell waits, and since when; or None
    keep(boot, begun, session)     so that it is found; False: it cannot be

A kept boot is a file as `save` writes it, named by a hash of all that decides the run, and of this
copy of uncore.  It is the memory of a process, so it is taken up only if file and folder are the
user's own and nobody else may write either.  A file that is damaged counts as none.
Invariant: after `keep` the folder holds at most MAX_KEPT_BYTES, or the boot just kept.
"""

from __future__ import annotations

import dataclasses
import hashlib
import os
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

import msgspec

from uncore import engine
from uncore.boot.kernel_run import Boot
from uncore.boot.saved_boot import Begun, save, take_up
from uncore.boot.session import Session
from uncore.errors import UserError
from uncore.result import canonical
from uncore.support import paths
from uncore.support.bounded_folder import trim

BOOTS_FOLDER = paths.CACHE / "boots"
MAX_KEPT_BYTES = 4 << 30  # a boot of 64 harts takes a sixteenth
WRITABLE_BY_OTHERS = 0o022  # permission bits of users other than the owner


class Found(NamedTuple):
    begun: Begun
    since: datetime


def find(boot: Boot) -> Found | None:
    file = _file(boot)
    try:
        if not (_is_private(file.parent) and _is_private(file)):
            return None
        since = datetime.fromtimestamp(file.stat().st_mtime)
        return Found(take_up(file), since)
    except (OSError, UserError):
        return None


def keep(boot: Boot, begun: Begun, session: Session) -> bool:
    """A folder that cannot be written does not end the run."""
    file = _file(boot)
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if begun.arena is None or not _is_private(file.parent):
            return False
        save(begun, session, file)
        file.chmod(0o600)
        trim(file, MAX_KEPT_BYTES)
    except (OSError, UserError):
        return False
    return True


def _file(boot: Boot) -> Path:
    # the sources of its numbers do not matter
    machine = dataclasses.replace(boot.machine, numbers=())
    document = msgspec.to_builtins(dataclasses.replace(boot, machine=machine))
    key = canonical([document, engine.identity("native")])
    return BOOTS_FOLDER / hashlib.sha256(key).hexdigest()


def _is_private(path: Path) -> bool:
    about = path.stat()
    return about.st_uid == os.getuid() and not about.st_mode & WRITABLE_BY_OTHERS
