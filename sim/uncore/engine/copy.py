"""Identifies this copy of uncore: a hash of all its files that can change outcomes."""

from __future__ import annotations

import hashlib
import os
from functools import cache
from importlib.util import find_spec

from uncore.support import paths

HASHED_ENDINGS = (".py", ".table")  # hashed in addition to compiled files


@cache
def content() -> str:
    folders = (paths.PACKAGE, paths.SST, paths.GEM5)
    files = [
        os.path.join(directory, name)
        for folder in folders
        for directory, _, names in os.walk(folder)  # os.walk takes a third of the time of glob
        for name in names
        if name.endswith(HASHED_ENDINGS)
    ]
    native = find_spec("uncore._native")
    digest = hashlib.sha256()
    for file in (
        str(native and native.origin),
        *map(str, paths.SST_ELEMENT.glob("*.so")),
        *sorted(files),
    ):
        digest.update(b"%s\0" % os.path.basename(file).encode())
        # Read in pieces, because allocating memory for a whole file is slow.
        with open(file, "rb", buffering=0) as contents:
            digest.update(hashlib.file_digest(contents, "sha256").digest())
    return digest.hexdigest()
