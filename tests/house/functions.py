"""Computes the length of each function in lines, including its head."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tests.house.tracked import name, of_kind
from tests.layers.cpp import TOP, files, functions


def lengths() -> Iterator[tuple[str, int]]:
    yield from native()
    yield from python()


def native() -> Iterator[tuple[str, int]]:
    for file in files():
        for function in functions(file.read_text()):
            yield f"{file.relative_to(TOP)}: {function.name}", function.lines


def python() -> Iterator[tuple[str, int]]:
    for path in of_kind(".py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                assert node.end_lineno is not None
                yield f"{name(path)}: {node.name}", node.end_lineno - node.lineno + 1
