"""Do all paths in pages and comments exist?

On a page, a path is text in back ticks; in a comment, it is text with a folder and a suffix that
our files have.  Leading folders may be left out: `core/lines.hh`.  Capitals stand for any name:
lock/NAME.c.
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

# files of other projects, by their folders in these projects
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
BUILD_FOLDER = "build/"  # not tracked
PLACEHOLDER = re.compile(r"[A-Z]{2,}\b|\.\.\.|~|\{")
TICKED = re.compile(r"`([^`\s]+/[^`\s]+)`")


@cache
def endings() -> frozenset[str]:
    return frozenset(path.suffix for path in tracked() if path.suffix)


@cache
def known_paths() -> frozenset[str]:
    """Returns each path of the tree, with any number of leading folders left out."""
    generated = (str(path.relative_to(GENERATED)) for path in GENERATED.rglob("*.hh"))
    whole = {*map(name, tracked()), *generated}
    parts = (path.split("/") for path in whole)
    return frozenset("/".join(p[begin:]) for p in parts for begin in range(len(p)))


def is_path(word: str) -> bool:
    return Path(word).suffix in endings()


def exists(word: str, folder: Path) -> bool:
    if word.startswith(BUILD_FOLDER) or PLACEHOLDER.search(word):
        return True
    if any(word.startswith(f"{top}/") for tops in FOREIGN.values() for top in tops):
        return True
    if "*" in word:
        return any(fnmatch(path, word) for path in known_paths())
    return word in known_paths() or (folder / word).exists()


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
def test_missing_path_is_noticed(gone: str) -> None:
    assert not exists(gone, TOP / "docs")
    assert list(of_page(f"See `{gone}:12` and ticket.c.")) == [gone]
    assert list(of_comment(f"See {gone}, and x / y (a/b).")) == [gone, "a/b"]


@pytest.mark.parametrize(
    "there", ["web/web.cc", "sim/native/web/web.cc", "lock/*.c", "lock/NAME.c", "kern/x.c"]
)
def test_existing_path_is_accepted(there: str) -> None:
    assert exists(there, TOP / "docs")
