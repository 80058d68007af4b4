"""Paths that pages and comments name are in the tree.

A path of a page stands in back ticks, one of a comment has a folder and an ending of a file of
ours.  It may leave out folders above: `core/lines.hh`.  Capitals stand for any name: lock/NAME.c.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

import pytest
from tests.house import comments
from tests.house.tracked import TOP, name, of_kind, tracked
from tests.layers.cpp import GENERATED

# Files of others, by the folders in which their trees have them.
FOREIGN = {
    "FreeBSD and DragonFly": ("kern", "vm", "sys", "amd64"),
    "Linux": (
        "arch",
        "kernel",
        "mm",
        "fs",
        "security",
        "include/trace",
        "include/uapi",
        "Documentation",
    ),
    "gem5": ("src",),
}
MADE = "build/"  # not tracked
PLACEHOLDER = re.compile(r"[A-Z]{2,}\b|\.\.\.|~|\{")
TICKED = re.compile(r"`([^`\s]+/[^`\s]+)`")


@cache
def endings() -> frozenset[str]:
    return frozenset(path.suffix for path in tracked() if path.suffix)


@cache
def known() -> frozenset[str]:
    """Each path of the tree, with any number of folders left out above."""
    generated = (str(path.relative_to(GENERATED)) for path in GENERATED.rglob("*.hh"))
    whole = {*map(name, tracked()), *generated}
    parts = (path.split("/") for path in whole)
    return frozenset("/".join(p[begin:]) for p in parts for begin in range(len(p)))


def is_path(word: str) -> bool:
    return Path(word).suffix in endings()


def exists(word: str, beside: Path) -> bool:
    if word.startswith(MADE) or PLACEHOLDER.search(word):
        return True
    if any(word.startswith(f"{folder}/") for folders in FOREIGN.values() for folder in folders):
        return True
    if "*" in word:
        return any(fnmatch(path, word) for path in known())
    return word in known() or (beside / word).exists()


def of_page(text: str) -> Iterator[str]:
    yield from (word.partition(":")[0] for word in TICKED.findall(text))


def of_comment(text: str) -> Iterator[str]:
    yield from re.findall(r"(?<![\w/.~<{:-])(?:\.{1,2}/)*[\w.-]+(?:/[\w.*-]+)+(?![\w/])", text)


def stale(path: Path) -> list[str]:
    if path.suffix == ".md":
        words = [*of_page(path.read_text())]
    else:
        words = [word for part in comments.of_file(path) for word in of_comment(part.text)]
    words = [word.rstrip(".") for word in words]
    return [word for word in words if is_path(word) and not exists(word, path.parent)]


@pytest.mark.parametrize("kind", [".md", ".py", *comments.C_LIKE])
def test_path_that_a_page_or_comment_names_is_in_the_tree(kind: str) -> None:
    gone = {name(path): stale(path) for path in of_kind(kind)}
    assert {path: words for path, words in gone.items() if words} == {}


@pytest.mark.parametrize("gone", ["web/gone.hh", "sim/native/web/web.py", "lock/gone*.c"])
def test_path_that_is_not_there_is_found(gone: str) -> None:
    assert not exists(gone, TOP / "docs")
    assert list(of_page(f"See `{gone}:12` and ticket.c.")) == [gone]
    assert list(of_comment(f"See {gone}, and x / y (a/b).")) == [gone, "a/b"]


@pytest.mark.parametrize(
    "there", ["web/web.cc", "sim/native/web/web.cc", "lock/*.c", "lock/NAME.c", "kern/x.c"]
)
def test_path_that_is_there_is_not_stale(there: str) -> None:
    assert exists(there, TOP / "docs")
