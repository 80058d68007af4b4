"""Lists the self-checks of a program, which it finds in the program's sources.

`checks(program)` returns each check with its file and line.  A check belongs to the program only if
its message is in the binary, because headers have checks that not every program compiles.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from uncore.program.locate import source_of
from uncore.program.program import Program
from uncore.support import paths

CHECK_PATTERN = re.compile(r'uc_check\s*\((?:[^;"]|"(?!\s*\)\s*;))*?"([^"]*)"\s*\)\s*;')
INCLUDE_PATTERN = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


@dataclass(frozen=True)
class Check:
    what: str  # the fault that it detects
    file: str
    line: int


def checks(program: Program) -> list[Check]:
    """Returns the checks in the order of the sources, the program's own first."""
    return [
        Check(match[1], path.name, text.count("\n", 0, match.start()) + 1)
        for path, text in _sources(source_of(program), set())
        for match in CHECK_PATTERN.finditer(text)
        if match[1].encode() in program.data
    ]


def _sources(path: Path, visited: set[Path]) -> Iterator[tuple[Path, str]]:
    """Yields the file, and the files that it includes from its folder or from workloads/include."""
    visited.add(path)
    text = path.read_text()
    yield path, text
    for name in INCLUDE_PATTERN.findall(text):
        for folder in (path.parent, paths.WORKLOADS / "include"):
            if (folder / name).is_file() and folder / name not in visited:
                yield from _sources(folder / name, visited)
                break
