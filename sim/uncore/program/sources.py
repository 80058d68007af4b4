"""Checks the files that a C file includes, so that the compiler never reads an endless file.

check(source, folders)    raises a UserError if the file directly or indirectly includes a device or
                          a pipe
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from uncore.errors import UserError

INCLUDE_DIRECTIVE = re.compile(
    r"""(?:\#\s*(?:include|import|embed)|\.incbin)[\s\\]*["<]([^">\\\n]+)"""
)


def check(source: Path, folders: Sequence[Path]) -> None:
    """Checks includes recursively.  Names composed by macros are not found; build.py limits the
    compiler's time for them.
    """
    checked, pending = {source}, [source]
    while pending:
        file = pending.pop()
        lines = file.read_text(errors="replace").splitlines()
        for number, line in enumerate(lines, 1):
            for name in INCLUDE_DIRECTIVE.findall(line):
                for included in _found(name, [file.parent, *folders]):
                    if not included.is_file():
                        position = f"{file.name}:{number}"
                        raise UserError(
                            f"{position}: takes in {included}: it is not a regular file"
                        )
                    if included not in checked:
                        checked.add(included)
                        pending.append(included)


def _found(name: str, folders: Sequence[Path]) -> list[Path]:
    candidates = [folder / name for folder in folders]
    return [path for path in candidates if path.exists()][:1]
