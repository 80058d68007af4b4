"""Parses C++ as text: the includes of a file, and where its functions begin and end.

Invariant: the files are formatted by clang-format, so the closing brace of a body has the
indentation of its head.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
NATIVE = TOP / "sim" / "native"
SST = TOP / "sim" / "sst"
GENERATED = TOP / "build" / "native"
NO_FUNCTION = re.compile(r"(template <.*> )?(namespace|class|struct|union|enum|extern)\b|.*= \{$")


@dataclass(frozen=True)
class Function:
    name: str
    first: int  # first and last line, counted from 1, including the head
    last: int

    @property
    def lines(self) -> int:
        return self.last - self.first + 1


def files() -> list[Path]:
    """Returns all C++ files of the native module and of the SST element, including generated
    ones.
    """
    candidates = [f for folder in (NATIVE, SST, GENERATED) for f in folder.rglob("*.*")]
    return sorted(f for f in candidates if f.suffix in (".cc", ".hh", ".def"))


def includes(file: Path) -> list[str]:
    """Returns the includes of files of this project, which are in quotation marks."""
    return re.findall(r'^#include "([^"]+)"', file.read_text(), re.MULTILINE)


def graph() -> dict[str, list[str]]:
    """Maps each file to the files of this project that it includes. Names are relative to
    sim/native, or sst/NAME.
    """
    return {_name(file): [_target(file, i) for i in includes(file)] for file in files()}


def _name(file: Path) -> str:
    root = next(r for r in (NATIVE, GENERATED, SST.parent) if r in file.parents)
    return str(file.relative_to(root))


def _target(file: Path, include: str) -> str:
    return f"sst/{include}" if file.parent == SST and (SST / include).exists() else include


def functions(text: str) -> Iterator[Function]:
    """Yields every outermost block that is not a namespace, a type or a table."""
    lines = text.splitlines()
    number = 0
    while number < len(lines):
        if not _opens_block(lines[number]):
            number += 1
            continue
        first = _first_line(lines, number)
        if NO_FUNCTION.match(lines[first].strip()) or NO_FUNCTION.match(lines[number].strip()):
            number += 1
            continue
        closing = lines[first][: len(lines[first]) - len(lines[first].lstrip())] + "}"
        last = number
        while not lines[last].startswith(closing):
            last += 1
        yield Function(_function_name(" ".join(lines[first : number + 1])), first + 1, last + 1)
        number = last + 1


def _function_name(head: str) -> str:
    """Returns the function's name: the text before its parameter list, without attributes and
    template arguments.
    """
    match = re.search(r"([\w:<>~, ]*?operator\S+|[\w:~]+(?:<[^()]*>(?:::[\w~]+)?)?) ?\(", head)
    return match[1].split(" ")[-1] if match else head.strip()


def _opens_block(line: str) -> bool:
    return line.endswith("{") and not line.lstrip().startswith(("//", "#", "}"))


def _first_line(lines: list[str], opening: int) -> int:
    """Returns the first line of the declaration that ends with this brace."""
    first = opening
    while first > 0 and not _ends_declaration(lines[first - 1]):
        first -= 1
    return first


def _ends_declaration(line: str) -> bool:
    stripped = line.strip()
    return (
        not stripped
        or stripped.endswith((";", "{", "}", "public:", "private:", "protected:"))
        or stripped.startswith(("//", "#"))
    )
