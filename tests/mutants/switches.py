"""Builds many C++ mutants at once. Each is a copy of the function that it changes, behind a switch.

    switched(name, text, {number: changed}) -> Switched

The result has the file's text with the copies, and the numbers of the mutants in it. The build
behaves like the original, or like the mutant whose number is in the environment variable
UNCORE_MUTANT. A change outside of functions is left out. Compiler messages about a copy have the
mutant's number in place of the file's name: `mutant 7:3:1: error: ...`.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import NamedTuple

VARIABLE = "UNCORE_MUTANT"
HEADER = "mutant.hh"  # name of a header with the text of SELECTION
# The pragmas suppress warnings of g++, because after a #line g++ mistakes types of anonymous
# namespaces and lambdas for types of a header.
SELECTION = f"""#pragma once
#include <cstdlib>
#pragma GCC diagnostic ignored "-Wunused"
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wsubobject-linkage"
#endif
inline const int mutant_now = std::getenv("{VARIABLE}") ? std::atoi(std::getenv("{VARIABLE}")) : 0;
#define MUTANT(n) (!__builtin_is_constant_evaluated() && mutant_now == (n))
"""
# a message about a compiler error in the copy of a mutant
COMPILER_ERROR = re.compile(r"^mutant (\d+):.*error", re.MULTILINE)

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
    depth = before = begin = 0  # `before`: start of the text before the next brace
    function_depth = -1  # depth of the current function's braces, or -1 outside of functions
    for token in TOKEN.finditer(text):
        if token[0] == "{":
            if function_depth < 0 and _begins_function(text[before : token.start()]):
                function_depth, begin = depth, token.start()
            depth += 1
        elif token[0] == "}":
            depth -= 1
            if depth == function_depth:
                yield Body(begin, token.end())
                function_depth = -1
        elif token[0][0] in "\"'R":
            continue
        before = token.end()


def _begins_function(before: str) -> bool:
    """Returns True if a brace after this text begins a function, not a container or an
    initializer.
    """
    return not CONTAINER.match(before) and "(" in before and before.rstrip()[-1:] not in "=,("


def switched(name: str, text: str, changed: Mapping[int, str]) -> Switched:
    copies = defaultdict[Body, dict[int, str]](dict)
    all_bodies = list(bodies(text))
    for number, mutant_text in changed.items():
        first, last = _changed_range(text, mutant_text)
        for body in all_bodies:
            if body.begin < first and last < body.end:
                copies[body][number] = mutant_text[
                    body.begin : body.end + len(mutant_text) - len(text)
                ]
    for body, copies_of_body in sorted(copies.items(), reverse=True):
        text = text[: body.begin] + _switch(name, text, body, copies_of_body) + text[body.end :]
    return Switched(
        f'#include "{HEADER}"\n#line 1\n{text}',
        frozenset(n for copies_of_body in copies.values() for n in copies_of_body),
    )


def _changed_range(text: str, changed: str) -> tuple[int, int]:
    """Returns the range of the text that the changed text replaces."""
    shorter = min(len(text), len(changed))
    first = next((n for n in range(shorter) if text[n] != changed[n]), shorter)
    common_end = next(
        (n for n in range(shorter - first) if text[-1 - n] != changed[-1 - n]), shorter - first
    )
    return first, len(text) - common_end


def _switch(name: str, text: str, body: Body, copies: Mapping[int, str]) -> str:
    line = text.count("\n", 0, body.begin) + 1
    chain = "".join(
        f'if (MUTANT({number}))\n#line 1 "mutant {number}"\n{copy}\nelse '
        for number, copy in copies.items()
    )
    return f'{{ {chain}\n#line {line} "{name}"\n{text[body.begin : body.end]} }}'
