"""Caches boots in the user's folder, so that a repeated boot starts at the shell's first prompt.

    find(boot)                     returns the run at its prompt and when it was saved, or None
    keep(boot, boot_run, session)  saves the run in the cache; returns False if it cannot

A cached boot is a file written by `save`, named by a hash of all inputs of the run and of this
build of uncore.  It is the memory image of a process, so it is used only if the file and its folder
belong to the user and nobody else may write to either.  A damaged file is ignored. Invariant: after
`keep` the folder holds at most MAX_KEPT_BYTES, or only the boot that was saved last.
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
from uncore.boot.saved_boot import BootRun, resume, save
from uncore.boot.session import Session
from uncore.errors import UserError
from uncore.result import canonical
from uncore.support import paths
from uncore.support.bounded_folder import trim

BOOTS_FOLDER = paths.CACHE / "boots"
MAX_KEPT_BYTES = 4 << 30  # about sixteen boots of 64 harts
WRITABLE_BY_OTHERS = 0o022  # permission bits of users other than the owner


class FoundBoot(NamedTuple):
    boot_run: BootRun
    since: datetime


def find(boot: Boot) -> FoundBoot | None:
    file = _file(boot)
    try:
        if not (_is_private(file.parent) and _is_private(file)):
            return None
        since = datetime.fromtimestamp(file.stat().st_mtime)
        return FoundBoot(resume(file), since)
    except (OSError, UserError):
        return None


def keep(boot: Boot, boot_run: BootRun, session: Session) -> bool:
    """Saves the run in the cache.  Returns False if it cannot; a folder that is not writable raises
    no error.
    """
    file = _file(boot)
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if boot_run.arena is None or not _is_private(file.parent):
            return False
        save(boot_run, session, file)
        file.chmod(0o600)
        trim(file, MAX_KEPT_BYTES)
    except (OSError, UserError):
        return False
    return True


def _file(boot: Boot) -> Path:
    # `numbers` only says where the machine's numbers come from; it does not change the run.
    machine = dataclasses.replace(boot.machine, numbers=())
    document = msgspec.to_builtins(dataclasses.replace(boot, machine=machine))
    key = canonical([document, engine.identity("native")])
    return BOOTS_FOLDER / hashlib.sha256(key).hexdigest()


def _is_private(path: Path) -> bool:
    status = path.stat()
    return status.st_uid == os.getuid() and not status.st_mode & WRITABLE_BY_OTHERS
