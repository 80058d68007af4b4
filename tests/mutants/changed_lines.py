"""Draws mutants from lines that have changed lately. Each mutant changes an operator, a constant or
a condition, or removes a statement.

    drawn(number, seed) -> [Mutant, ...]     the same mutants for the same seed and tree
    changes(file, text, lines)               all changes that can be drawn from these lines of a
                                             file

Each is tried with the suites that its file touches (tests/tools/touched.toml).  Invariant: a draw
lies in code, never in a comment or a text, and its `before` occurs once in the file.
"""

from __future__ import annotations

import io
import random
import re
import subprocess
import tokenize
from bisect import bisect_right
from collections.abc import Container, Iterator
from pathlib import Path
from typing import NamedTuple

from tests.mutants.mutant_list import TOP, Mutant
from tests.tools import touched

from uncore.study.fences.orders import C_WORD

SOURCES = ("sim/uncore", "sim/native", "validation/uncore_lab")
CHANGED_SINCE = "30 days ago"
NOTHING_COMMITTED = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"  # Git's empty tree
HUNK = re.compile(r"^\+\+\+ b/(?P<file>.*)$|^@@ -\S+ \+(?P<first>\d+)(?:,(?P<count>\d+))? @@", re.M)
OPERATORS = {
    "<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "+": "-", "-": "+",
    "*": "+", "+=": "-=", "-=": "+=", "&&": "||", "||": "&&", "and": "or", "or": "and",
    "min": "max", "max": "min", "true": "false", "false": "true", "True": "False",
    "False": "True", "any_of": "all_of", "all_of": "any_of",
}  # fmt: skip
SPACED = frozenset(OPERATORS) - {word for word in OPERATORS if word.isidentifier()}
CPP_OPERATOR = re.compile(r"[<>=!+\-*&|]+")
NUMBER = re.compile(r"\d+")
CONDITION = {
    ".py": re.compile(r"^\s*(?:el)?if (?P<what>[^#\"']+):$"),
    ".cc": re.compile(r"^\s*(?:\} else )?if \((?P<what>[^;\"']+)\)(?: [^()]*)?[;{]$"),
}
# A call or an assignment, which can be removed; declarations and returns cannot.
STATEMENT = {
    ".py": re.compile(r"^\s+(?P<what>[\w.\[\]]+(?:\(.*\)| [-+|&]= .*))$"),
    ".cc": re.compile(r"^\s+(?P<what>(?:[\w\[\].]|->)+(?:\(.*\)| [-+|&]?= .*|\+\+)|\+\+[\w.]+);$"),
}
INSTEAD = {".py": ("not ({})", "pass"), ".cc": ("!({})", "")}


class Change(NamedTuple):
    """Replaces the characters from `begin` to `end` of a text by `new`."""

    kind: str
    begin: int
    end: int
    new: str


def drawn(number: int, seed: int) -> list[Mutant]:
    rng = random.Random(seed)
    all_ = [place for file, lines in changed() if is_tried(file) for place in _places(file, lines)]
    chosen = rng.sample(all_, min(number, len(all_)))
    return [_mutant(file, (TOP / file).read_text(), change) for file, change in chosen]


def is_tried(file: str) -> bool:
    return Path(file).suffix in (".py", ".cc", ".hh") and bool(touched.of_path(file))


def _places(file: str, lines: Container[int]) -> Iterator[tuple[str, Change]]:
    return ((file, change) for change in changes(file, (TOP / file).read_text(), lines))


def changed(top: Path = TOP) -> Iterator[tuple[str, set[int]]]:
    """Yields each source file that has changed, with the numbers of its changed lines."""
    arguments = ["rev-list", "-1", f"--before={CHANGED_SINCE}", "HEAD"]
    base = _git(top, *arguments).strip() or NOTHING_COMMITTED
    file, lines = "", set[int]()
    diff = _git(top, "diff", "-U0", "--no-renames", "--diff-filter=d", base, "--", *SOURCES)
    for head in HUNK.finditer(diff):
        if head["file"]:
            if lines:
                yield file, lines
            file, lines = head["file"], set()
        else:
            first, count = int(head["first"]), int(head["count"] or 1)
            lines.update(range(first, first + count))
    if lines:
        yield file, lines


def _git(top: Path, *arguments: str) -> str:
    command = ["git", *arguments]
    return subprocess.run(command, cwd=top, capture_output=True, text=True, check=True).stdout


def changes(file: str, text: str, lines: Container[int]) -> Iterator[Change]:
    kind = ".py" if file.endswith(".py") else ".cc"
    starts = _line_starts(text)
    for change in (*_words(kind, text), *_of_lines(kind, text)):
        if bisect_right(starts, change.begin) in lines:
            yield change


def _line_starts(text: str) -> list[int]:
    return [0, *(found.end() for found in re.finditer("\n", text))]


def _words(kind: str, text: str) -> Iterator[Change]:
    """Yields changes of operators and whole numbers."""
    for begin, end in _python(text) if kind == ".py" else _cpp(text):
        word = text[begin:end]
        spaced = text[begin - 1 : begin] + text[end : end + 1] == "  "
        if word in OPERATORS and (spaced or word not in SPACED):
            yield Change("operator", begin, end, OPERATORS[word])
        elif NUMBER.fullmatch(word):
            yield Change("constant", begin, end, str(int(word, 10) + 1))


def _python(text: str) -> Iterator[tuple[int, int]]:
    starts = _line_starts(text)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in (tokenize.OP, tokenize.NAME, tokenize.NUMBER):
            (first, at), (last, end) = token.start, token.end
            yield starts[first - 1] + at, starts[last - 1] + end


def _cpp(text: str) -> Iterator[tuple[int, int]]:
    past = 0
    for word in C_WORD.finditer(text):
        at = word.start("mark")
        operator = CPP_OPERATOR.match(text, at) if word["mark"] else None
        if operator and at >= past:
            past = operator.end()
            yield operator.span()
        elif word["name"] or NUMBER.fullmatch(word[0]):
            yield word.span()


def _of_lines(kind: str, text: str) -> Iterator[Change]:
    """Yields changes of conditions on a single line, and removals of statements."""
    negated, nothing = INSTEAD[kind]
    at, before = 0, ""
    for line in text.splitlines(keepends=True):
        if found := CONDITION[kind].match(line.rstrip("\n")):
            begin, end = (at + place for place in found.span("what"))
            yield Change("condition", begin, end, negated.format(found["what"]))
        elif (found := STATEMENT[kind].match(line.rstrip("\n"))) and _begins(kind, before):
            begin, end = (at + place for place in found.span("what"))
            yield Change("deletion", begin, end, nothing)
        at, before = at + len(line), line.strip() or before


def _begins(kind: str, before: str) -> bool:
    """True if a statement may begin after this line."""
    return not before.endswith((",", "(", "[", "=")) if kind == ".py" else before[-1:] in ";{}"


def _mutant(file: str, text: str, change: Change) -> Mutant:
    begin, end = _unique(text, change)
    old, line = text[change.begin : change.end], text.count("\n", 0, change.begin) + 1
    column = change.begin - text.rfind("\n", 0, change.begin)
    return Mutant(
        name=f"{Path(file).stem}-{line}-{column}-{change.kind}",
        file=file,
        before=text[begin:end],
        after=text[begin : change.begin] + change.new + text[change.end : end],
        breaks=f"{file}:{line}: {old} becomes {change.new or 'nothing'}",
        tests=touched.of_path(file),
        area="drawn",
    )


def _unique(text: str, change: Change) -> tuple[int, int]:
    """Returns the range of the fewest whole lines around the change that occur once in the text."""
    begin, end = change.begin, change.end
    while True:
        begin = text.rfind("\n", 0, max(begin - 1, 0)) + 1
        end = text.find("\n", end) + 1 or len(text)
        if text.count(text[begin:end]) == 1:
            return begin, end
