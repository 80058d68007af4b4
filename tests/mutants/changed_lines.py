"""Draws mutants from lines that have changed recently. Each mutant changes an operator, a constant
or a condition, or removes a statement.

    drawn(number, seed) -> [Mutant, ...]     the same mutants for the same seed and tree
    changes(file, text, lines)               all changes that can be drawn from these lines

Each mutant is tried with the suites that test its file (tests/tools/touched.toml). Invariant: a
change lies in code, never in a comment or a text, and the mutant's `before` occurs once in the
file.
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

from uncore.study.fences.orders import C_WORD_PATTERN

SOURCES = ("sim/uncore", "sim/native", "validation/uncore_lab")
CHANGED_SINCE = "30 days ago"
NOTHING_COMMITTED = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"  # the hash of Git's empty tree
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
# A call or an assignment can be removed; a declaration or a return cannot.
STATEMENT = {
    ".py": re.compile(r"^\s+(?P<what>[\w.\[\]]+(?:\(.*\)| [-+|&]= .*))$"),
    ".cc": re.compile(r"^\s+(?P<what>(?:[\w\[\].]|->)+(?:\(.*\)| [-+|&]?= .*|\+\+)|\+\+[\w.]+);$"),
}
NEGATION_AND_DELETION = {".py": ("not ({})", "pass"), ".cc": ("!({})", "")}


class Change(NamedTuple):
    """Replaces the characters from `begin` to `end` of a text by `new`."""

    kind: str
    begin: int
    end: int
    new: str


def drawn(number: int, seed: int) -> list[Mutant]:
    """Returns this number of mutants, or all if there are fewer."""
    rng = random.Random(seed)
    candidates = [
        place
        for file, lines in changed_lines()
        if has_tests(file)
        for place in _changes_of_file(file, lines)
    ]
    selected = rng.sample(candidates, min(number, len(candidates)))
    return [_mutant(file, (TOP / file).read_text(), change) for file, change in selected]


def has_tests(file: str) -> bool:
    return Path(file).suffix in (".py", ".cc", ".hh") and bool(touched.of_path(file))


def _changes_of_file(file: str, lines: Container[int]) -> Iterator[tuple[str, Change]]:
    return ((file, change) for change in changes(file, (TOP / file).read_text(), lines))


def changed_lines(top: Path = TOP) -> Iterator[tuple[str, set[int]]]:
    """Yields each source file that has changed, with the numbers of its changed lines."""
    arguments = ["rev-list", "-1", f"--before={CHANGED_SINCE}", "HEAD"]
    base = _git(top, *arguments).strip() or NOTHING_COMMITTED
    file, lines = "", set[int]()
    diff = _git(top, "diff", "-U0", "--no-renames", "--diff-filter=d", base, "--", *SOURCES)
    for hunk in HUNK.finditer(diff):
        if hunk["file"]:
            if lines:
                yield file, lines
            file, lines = hunk["file"], set()
        else:
            first, count = int(hunk["first"]), int(hunk["count"] or 1)
            lines.update(range(first, first + count))
    if lines:
        yield file, lines


def _git(top: Path, *arguments: str) -> str:
    command = ["git", *arguments]
    return subprocess.run(command, cwd=top, capture_output=True, text=True, check=True).stdout


def changes(file: str, text: str, lines: Container[int]) -> Iterator[Change]:
    kind = ".py" if file.endswith(".py") else ".cc"
    starts = _line_starts(text)
    for change in (*_changes_of_tokens(kind, text), *_changes_of_lines(kind, text)):
        if bisect_right(starts, change.begin) in lines:
            yield change


def _line_starts(text: str) -> list[int]:
    return [0, *(match.end() for match in re.finditer("\n", text))]


def _changes_of_tokens(kind: str, text: str) -> Iterator[Change]:
    """Yields changes of operators and of whole numbers."""
    for begin, end in _python_tokens(text) if kind == ".py" else _cpp_tokens(text):
        word = text[begin:end]
        spaced = text[begin - 1 : begin] + text[end : end + 1] == "  "
        if word in OPERATORS and (spaced or word not in SPACED):
            yield Change("operator", begin, end, OPERATORS[word])
        elif NUMBER.fullmatch(word):
            yield Change("constant", begin, end, str(int(word, 10) + 1))


def _python_tokens(text: str) -> Iterator[tuple[int, int]]:
    starts = _line_starts(text)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in (tokenize.OP, tokenize.NAME, tokenize.NUMBER):
            (first, column), (last, end) = token.start, token.end
            yield starts[first - 1] + column, starts[last - 1] + end


def _cpp_tokens(text: str) -> Iterator[tuple[int, int]]:
    end_of_operator = 0
    for word in C_WORD_PATTERN.finditer(text):
        position = word.start("mark")
        operator = CPP_OPERATOR.match(text, position) if word["mark"] else None
        if operator and position >= end_of_operator:
            end_of_operator = operator.end()
            yield operator.span()
        elif word["name"] or NUMBER.fullmatch(word[0]):
            yield word.span()


def _changes_of_lines(kind: str, text: str) -> Iterator[Change]:
    """Yields changes of conditions on a single line, and removals of statements."""
    negation, nothing = NEGATION_AND_DELETION[kind]
    line_begin, previous_line = 0, ""
    for line in text.splitlines(keepends=True):
        if match := CONDITION[kind].match(line.rstrip("\n")):
            begin, end = (line_begin + offset for offset in match.span("what"))
            yield Change("condition", begin, end, negation.format(match["what"]))
        elif (match := STATEMENT[kind].match(line.rstrip("\n"))) and _ends_before_statement(
            kind, previous_line
        ):
            begin, end = (line_begin + offset for offset in match.span("what"))
            yield Change("deletion", begin, end, nothing)
        line_begin, previous_line = line_begin + len(line), line.strip() or previous_line


def _ends_before_statement(kind: str, line: str) -> bool:
    """Returns True if a statement may begin after this line."""
    return not line.endswith((",", "(", "[", "=")) if kind == ".py" else line[-1:] in ";{}"


def _mutant(file: str, text: str, change: Change) -> Mutant:
    begin, end = _unique_lines(text, change)
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


def _unique_lines(text: str, change: Change) -> tuple[int, int]:
    """Returns the smallest range of whole lines around the change whose text occurs once."""
    begin, end = change.begin, change.end
    while True:
        begin = text.rfind("\n", 0, max(begin - 1, 0)) + 1
        end = text.find("\n", end) + 1 or len(text)
        if text.count(text[begin:end]) == 1:
            return begin, end
