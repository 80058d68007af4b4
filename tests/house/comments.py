"""Finds the comments and docstrings of a file of Python, C, C++ or JavaScript.

    of_file(path) -> [Comment(line, text), ...]

Comments on consecutive lines that begin in the same column count as one comment.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

C_LIKE = (".c", ".h", ".cc", ".hh", ".js")
COMMENT_OR_LITERAL = re.compile(
    r"""(?P<line>//[^\n]*) | /\*(?P<block>.*?)\*/
    | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])+'(?!\w)""",
    re.DOTALL | re.VERBOSE,
)
LEADS = re.compile(r"^\s*(?://+|\*+|#+:?)?[ \t]?", re.MULTILINE)


class Comment(NamedTuple):
    line: int
    text: str


@cache
def of_file(path: Path) -> list[Comment]:
    text = path.read_text()
    return list(in_python(text) if path.suffix == ".py" else in_c(text))


def in_python(text: str) -> Iterator[Comment]:
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    yield from _blocks((t.start, t.string) for t in tokens if t.type == tokenize.COMMENT)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            docstring = ast.get_docstring(node)
            if docstring:
                yield Comment(node.body[0].lineno, docstring)


def in_c(text: str) -> Iterator[Comment]:
    lines, row, counted = [], 1, 0
    for match in COMMENT_OR_LITERAL.finditer(text):
        begin = match.start()
        row, counted = row + text.count("\n", counted, begin), begin
        if match["line"]:
            column = begin - (text.rfind("\n", 0, begin) + 1)
            lines.append(((row, column), match["line"]))
        elif match["block"]:
            yield Comment(row, LEADS.sub("", match["block"]).strip())
    yield from _blocks(lines)


def _blocks(lines: Iterable[tuple[tuple[int, int], str]]) -> Iterator[Comment]:
    block: list[str] = []
    row = column = 0
    for at, text in lines:
        if block and at != (row + len(block), column):
            yield Comment(row, "\n".join(block))
            block = []
        if not block:
            row, column = at
        block.append(LEADS.sub("", text))
    if block:
        yield Comment(row, "\n".join(block))
