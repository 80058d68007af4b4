"""Which copy of uncore this is: a hash of all its files that decide what happens."""

from __future__ import annotations

import hashlib
import os
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from uncore import paths

KINDS = (".py", ".table")  # beside what is compiled


@cache
def content() -> str:
    folders = (paths.PACKAGE, paths.SST, paths.GEM5)
    files = [
        Path(place, name)
        for folder in folders
        for place, _, names in os.walk(folder)  # a third of what globs take, at each start
        for name in names
        if name.endswith(KINDS)
    ]
    native = find_spec("uncore._native")
    found = hashlib.sha256()
    for file in (
        Path(str(native and native.origin)),
        *paths.SST_ELEMENT.glob("*.so"),
        *sorted(files),
    ):
        found.update(b"%s\0" % file.name.encode() + file.read_bytes())
    return found.hexdigest()
