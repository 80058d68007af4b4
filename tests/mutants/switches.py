"""Builds many C++ mutants at once: each is a copy of the function it changes, behind a switch.

switched(name, text, {number: changed}) -> Switched: the file's text with the copies, and the
                                           numbers of the mutants in it

The build runs as the original, or as the mutant whose number is in the environment variable
UNCORE_MUTANT.  A change outside of functions is left out.  Compiler messages about a copy have its
mutant's number as the file: `mutant 7:3:1: error: ...`.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import NamedTuple

VARIABLE = "UNCORE_MUTANT"
HEADER = "mutant.hh"  # header in each folder, with the text of SELECTION
# The pragmas suppress warnings of g++, which after a #line takes types of anonymous namespaces and
# lambdas for types of a header.
SELECTION = f"""#pragma once
#include <cstdlib>
#pragma GCC diagnostic ignored "-Wunused"
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wsubobject-linkage"
#endif
inline const int mutant_now = std::getenv("{VARIABLE}") ? std::atoi(std::getenv("{VARIABLE}")) : 0;
#define MUTANT(n) (!__builtin_is_constant_evaluated() && mutant_now == (n))
"""
# a compiler error in the copy of a mutant
WRONG = re.compile(r"^mutant (\d+):.*error", re.MULTILINE)

TOKEN = re.compile(
    r"""//[^\n]*|/\*.*?\*/|^\ *\#[^\n]*|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\])*"
    |(?<![0-9a-f])'(?:\\.|[^'\\])+'|[{};]""",
    re.DOTALL | re.MULTILINE | re.VERBOSE,
)
CONTAINER = re.compile(
    r"\s*(\w+:\s+)?(template\s*<.*>\s*)?(namespace|struct|class|union|enum)\b", re.DOTALL
)


class Switched(NamedTuple):
    text: str
    numbers: frozenset[int]


class Body(NamedTuple):
    """Positions of the opening and closing brace of a function."""

    begin: int
    end: int


def bodies(text: str) -> Iterator[Body]:
    """Yields the bodies of all functions that are not inside other functions."""
    depth = said = begin = 0  # `said`: begin of the text before the next brace
    inside = -1  # depth of the current function's braces; -1: outside of functions
    for token in TOKEN.finditer(text):
        if token[0] == "{":
            if inside < 0 and _begins_function(text[said : token.start()]):
                inside, begin = depth, token.start()
            depth += 1
        elif token[0] == "}":
            depth -= 1
            if depth == inside:
                yield Body(begin, token.end())
                inside = -1
        elif token[0][0] in "\"'R":
            continue
        said = token.end()


def _begins_function(before: str) -> bool:
    """True if a brace after this text begins a function, not a container or an initializer."""
    return not CONTAINER.match(before) and "(" in before and before.rstrip()[-1:] not in "=,("


def switched(name: str, text: str, changed: Mapping[int, str]) -> Switched:
    copies = defaultdict[Body, dict[int, str]](dict)
    places = list(bodies(text))
    for number, other in changed.items():
        first, last = _differ(text, other)
        for body in places:
            if body.begin < first and last < body.end:
                copies[body][number] = other[body.begin : body.end + len(other) - len(text)]
    for body, those in sorted(copies.items(), reverse=True):
        text = text[: body.begin] + _chosen(name, text, body, those) + text[body.end :]
    return Switched(
        f'#include "{HEADER}"\n#line 1\n{text}',
        frozenset(n for those in copies.values() for n in those),
    )


def _differ(text: str, other: str) -> tuple[int, int]:
    """Returns the range of the first text that differs from the other text."""
    least = min(len(text), len(other))
    first = next((n for n in range(least) if text[n] != other[n]), least)
    same = next((n for n in range(least - first) if text[-1 - n] != other[-1 - n]), least - first)
    return first, len(text) - same


def _chosen(name: str, text: str, body: Body, copies: Mapping[int, str]) -> str:
    line = text.count("\n", 0, body.begin) + 1
    chain = "".join(
        f'if (MUTANT({number}))\n#line 1 "mutant {number}"\n{copy}\nelse '
        for number, copy in copies.items()
    )
    return f'{{ {chain}\n#line {line} "{name}"\n{text[body.begin : body.end]} }}'
