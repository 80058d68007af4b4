"""Identifies this copy of uncore: a hash of all its files that decide outcomes."""

from __future__ import annotations

import hashlib
import os
from functools import cache
from importlib.util import find_spec

from uncore.support import paths

KINDS = (".py", ".table")  # beside what is compiled


@cache
def content() -> str:
    folders = (paths.PACKAGE, paths.SST, paths.GEM5)
    files = [
        os.path.join(directory, name)
        for folder in folders
        for directory, _, names in os.walk(folder)  # a third of what globs take, at each start
        for name in names
        if name.endswith(KINDS)
    ]
    native = find_spec("uncore._native")
    digest = hashlib.sha256()
    for file in (
        str(native and native.origin),
        *map(str, paths.SST_ELEMENT.glob("*.so")),
        *sorted(files),
    ):
        digest.update(b"%s\0" % os.path.basename(file).encode())
        with open(file, "rb", buffering=0) as contents:  # a piece at a time: fresh memory is slow
            digest.update(hashlib.file_digest(contents, "sha256").digest())
    return digest.hexdigest()
