"""Prints a random sample for a reader to judge.

    python -m tests.house.reading_sample comments|names|tests COUNT SEED

Each item is printed with its file, its line and the code around it, in an order that depends on the
seed.  The reader judges whether an item can be understood at first reading, together with the shown
code.  The result has no limit in bars.toml, because people would write to satisfy the limit.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from tests.house import bindings, comments
from tests.house.openings import is_counted
from tests.house.tracked import CPP, TOP, name, of_kind

LINES_AFTER = 2  # lines of code shown after the item
PRAGMAS = ("type: ignore", "noqa")  # comments for linters
WORD = re.compile(r"\w+")
TEST_NAME = re.compile(r"^\s*(?:async )?def (test_\w+)\(", re.MULTILINE)


class Item(NamedTuple):
    path: Path
    line: int
    text: str


def all_comments() -> Iterator[Item]:
    for path in of_kind(".py", *comments.C_LIKE):
        for comment in comments.of_file(path):
            if is_counted(comment.text) and not comment.text.startswith(PRAGMAS):
                yield Item(path, comment.line, comment.text)


def all_names() -> Iterator[Item]:
    """Yields each name that a file of the product or the laboratory binds, once for each file."""
    for path in of_kind(".py", *CPP):
        if path.relative_to(TOP).parts[0] in ("sim", "validation"):
            text = path.read_text()
            first = {word: line for line, word in reversed([*words_of(text)])}
            for bound in dict.fromkeys(bindings.of_file(path)):
                yield Item(path, first[bound], bound)


def words_of(text: str) -> Iterator[tuple[int, str]]:
    """Yields each word of a text with its line number."""
    for line, row in enumerate(text.splitlines(), 1):
        for word in WORD.findall(row):
            yield line, word


def all_tests() -> Iterator[Item]:
    for path in of_kind(".py"):
        text = path.read_text()
        for match in TEST_NAME.finditer(text):
            yield Item(path, text.count("\n", 0, match.start(1)) + 1, match[1])


KINDS: dict[str, Callable[[], Iterator[Item]]] = {
    "comments": all_comments,
    "names": all_names,
    "tests": all_tests,
}


@cache
def items_of(kind: str) -> list[Item]:
    return sorted(KINDS[kind]())


def drawn(kind: str, count: int, seed: int) -> list[Item]:
    items = items_of(kind)
    return random.Random(seed).sample(items, min(count, len(items)))


def shown(number: int, item: Item) -> str:
    lines = item.path.read_text().splitlines()
    length = len(item.text.splitlines())
    beside = lines[item.line - 1 : item.line + length - 1 + LINES_AFTER]
    return "\n".join(
        [f"{number}. {name(item.path)}:{item.line}: {item.text}", *(f"    | {x}" for x in beside)]
    )


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="tests.house.reading_sample")
    parser.add_argument("kind", choices=list(KINDS))
    parser.add_argument("count", type=int)
    parser.add_argument("seed", type=int)
    asked = parser.parse_args(arguments)
    for number, item in enumerate(drawn(asked.kind, asked.count, asked.seed), 1):
        print(shown(number, item), end="\n\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
