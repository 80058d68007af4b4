"""Finds the code of each rule of docs/model.md in the reference engine: `python -m
tests.tools.rules`.

    rules()      the numbers of the rules on the page, in order
    citations()  the functions of the reference engine whose docstrings begin with such numbers

A docstring that begins with numbers such as `C6.2:`, `F1, F3:` or `A4.1 to A4.4:` says that its
function implements these rules; numbers in parentheses elsewhere are mentions. The number of a rule
that has parts denotes the text before its parts.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

TOP = Path(__file__).parents[2]
PAGE = TOP / "docs" / "model.md"
ENGINE = TOP / "sim" / "uncore" / "engine" / "reference"

NUMBER = r"[A-Z]\d+(?:\.\d+)?"
CITED = re.compile(rf"({NUMBER}(?: to {NUMBER})?(?:, {NUMBER}(?: to {NUMBER})?)*):")


class Citation(NamedTuple):
    module: str
    function: str
    numbers: tuple[str, ...]


def rules() -> tuple[str, ...]:
    """Returns all rule numbers of the page. docs/model-system.md, whose rules only the native
    engine has, is left out.
    """
    return tuple(re.findall(rf"^ *\* \*\*({NUMBER})\.\*\*", PAGE.read_text(), re.MULTILINE))


def parts(number: str) -> tuple[str, ...]:
    return tuple(part for part in rules() if part.startswith(f"{number}."))


def citations() -> Iterator[Citation]:
    """Yields the citations module by module, in the order of the source."""
    for path in sorted(ENGINE.glob("*.py")):
        for name, text in _docstrings(ast.parse(path.read_text()), ""):
            if match := CITED.match(text):
                yield Citation(path.stem, name, tuple(_numbers(match[1])))


def _docstrings(inside: ast.Module | ast.ClassDef, prefix: str) -> Iterator[tuple[str, str]]:
    """Yields the name and docstring of each function and method."""
    for node in inside.body:
        if isinstance(node, ast.ClassDef):
            yield from _docstrings(node, f"{node.name}.")
        elif isinstance(node, ast.FunctionDef):
            yield prefix + node.name, ast.get_docstring(node) or ""


def _numbers(text: str) -> Iterator[str]:
    """Yields the numbers that one docstring cites."""
    numbers = rules()
    for piece in text.split(", "):
        first, _, last = piece.partition(" to ")
        if last and {first, last} <= set(numbers):
            yield from numbers[numbers.index(first) : numbers.index(last) + 1]
        else:
            yield from filter(None, (first, last))


def main() -> None:
    functions: dict[str, list[str]] = {}
    for citation in citations():
        for number in citation.numbers:
            functions.setdefault(number, []).append(f"`{citation.module}.{citation.function}`")
    print("| rule | in `sim/uncore/engine/reference` |\n|---|---|")
    for number in rules():
        print(f"| {number} | {', '.join(functions.get(number, []))} |")


if __name__ == "__main__":
    main()
