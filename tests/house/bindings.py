"""Finds the names that code binds, and the vague ones among them.

Python: the targets of assignments, including attributes, and of loops, comprehensions, `with` and
`except`; parameters; functions and classes; new names in imports.  C++: identifiers after a type,
as clang-format lays declarations out (`Type* name` before one of `= ; , ( ) { [ :`), and those of
structured bindings; only the first of several declarators.  A name that is bound several times
counts several times.  Underscores and capitals separate the parts of a name; a name is vague if one
of its parts is a word of the list.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tests.house.classes import bare

DECLARED = re.compile(
    r"(?<![\w.>:])(?!(?:return|else|new|delete|throw|goto|case|using|typename|operator|public|and|or"
    r"|not|co_\w+|friend|default)\b)[A-Za-z_][\w:]*(?:<[^;{}()]*>)?[*&]{0,2}(?: const)? +[*&]*"
    r"(?!(?:const|override|final|noexcept|mutable|operator)\b)([A-Za-z_]\w*)\s*(?=[=;,)({\[]|:(?!:))"
)
BOUND_TOGETHER = re.compile(r"\bauto&{0,2} ?\[([\w, ]+)\]")
PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


def of_file(path: Path) -> list[str]:
    return list((of_python if path.suffix == ".py" else of_cpp)(path.read_text()))


def of_cpp(text: str) -> Iterator[str]:
    code = bare(text)
    yield from DECLARED.findall(code)
    for names in BOUND_TOGETHER.findall(code):
        yield from names.replace(" ", "").split(",")


def of_python(text: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.id if isinstance(node, ast.Name) else node.attr
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.alias) and node.asname:
            yield node.asname
        elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
            yield node.name


def is_vague(name: str, words: set[str]) -> bool:
    return not words.isdisjoint(part.lower() for part in PART.findall(name))
