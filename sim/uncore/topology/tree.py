"""Parses the tree of levels, such as "socket:2 die:4 ccx:2 core:4 thread:2", outermost first.

`parse_tree(text)` returns the `Tree`. The root is a `TreeGroup` of the level `system`, which need
not be written. A count is the number of groups in each parent. "core:4,4,3,3" has a count for each
parent, for uneven dies or fused-off cores; a shorter list is repeated, if it divides the number of
parents. Cores are the leaves; "thread:2,1" has the number of threads of each core. A group's index
is its position among all groups of its level in the whole machine.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from uncore.topology.keys import RESERVED_NAMES
from uncore.topology.schema import MOST_HARTS
from uncore.topology.units import UnitError

TREE_EXAMPLE = 'like "socket:2 die:4 ccx:2 core:4 thread:2"'
MAX_TREE_LEVELS = 32  # more than enough, because real machines have fewer than ten
TREE_WORD_PATTERN = re.compile(r"([A-Za-z][\w-]*):(\d{1,5}(?:,\d{1,5})*)")


@dataclass
class TreeGroup:
    level: str
    index: int  # index among all groups of its level
    path: str  # "socket0.die1", with numbers within the parent; "" for the system
    ancestors: tuple[int, ...]  # indices of the groups above, outermost first
    children: list[TreeGroup] = field(default_factory=list)

    def groups(self) -> Iterator[TreeGroup]:
        """Yields the group itself and all groups below it, in order."""
        yield self
        for child in self.children:
            yield from child.groups()

    def cores(self) -> list[TreeGroup]:
        return [group for group in self.groups() if group.level == "core"]


@dataclass(frozen=True)
class Tree:
    root: TreeGroup
    levels: tuple[str, ...]  # system ... core, thread
    threads: tuple[int, ...]  # threads of each core

    def groups(self, level: str) -> list[TreeGroup]:
        return [group for group in self.root.groups() if group.level == level]

    def part(self, path: str) -> TreeGroup:
        """Returns the group with that path, at any level."""
        group_found = next((group for group in self.root.groups() if group.path == path), None)
        if not group_found or not path:
            firsts = [self.groups(level)[0].path for level in self.levels[1:-1]]
            raise UnitError(f"expected a part of the tree, like {' or '.join(firsts)}")
        return group_found

    def parts(self, text: str) -> list[TreeGroup]:
        """Returns the groups whose paths end in `text`: "module8-9", "socket1.die0", or several
        such words.
        """
        groups = []
        for word in text.split() or [""]:
            ranges = [self._range(part) for part in word.split(".")]
            matching = [group for group in self.root.groups() if _ends(group.path, ranges)]
            if not matching:
                example = " or ".join(self.groups(level)[-1].path for level in self.levels[1:-1])
                raise UnitError(f"'{word}' is no part of the tree; expected such as {example}")
            groups += matching
        return groups

    def _range(self, part: str) -> set[str]:
        """Returns the names in a range; "ccx2-3" has ccx2 and ccx3."""
        levels = "|".join(map(re.escape, self.levels))
        match = re.fullmatch(rf"({levels})(\d{{1,4}})(?:-(\d{{1,4}}))?", part)
        if not match:
            return set()
        first, last = int(match[2]), int(match[3] or match[2])
        return {f"{match[1]}{number}" for number in range(first, last + 1)}


def _ends(path: str, ranges: list[set[str]]) -> bool:
    parts = path.split(".")[-len(ranges) :]
    return len(parts) == len(ranges) and all(p in r for p, r in zip(parts, ranges, strict=True))


def parse_tree(text: str) -> Tree:
    counts = _counts(text)
    threads = counts.pop("thread", [1])
    if "system" in counts and counts.pop("system") != [1]:
        raise UnitError("there is one system: expected system:1, or nothing")
    if list(counts)[-1:] != ["core"]:
        raise UnitError(f"expected 'core' innermost, followed by 'thread' alone, {TREE_EXAMPLE}")
    root = TreeGroup("system", 0, "", ())
    parents = [root]
    for level, counts_ in counts.items():
        parents = _children(level, counts_, parents)
    _refuse_uneven("thread", threads, parents)
    harts = sum(threads) * len(parents) // len(threads)
    if harts > MOST_HARTS:
        raise UnitError(f"{harts} harts; expected at most {MOST_HARTS}")
    threads_of_cores = tuple(threads[core % len(threads)] for core in range(len(parents)))
    return Tree(root, ("system", *counts, "thread"), threads_of_cores)


def _counts(text: str) -> dict[str, list[int]]:
    counts: dict[str, list[int]] = {}
    for word in text.split():
        match = TREE_WORD_PATTERN.fullmatch(word)
        if not match or match[1] in RESERVED_NAMES:
            raise UnitError(f"'{word}' is no level: expected NAME:COUNT words, {TREE_EXAMPLE}")
        if match[1] in counts or "thread" in counts:
            raise UnitError(f"'{word}' is misplaced: expected each level once, thread innermost")
        counts[match[1]] = [int(n) for n in match[2].split(",")]
        if 0 in counts[match[1]]:
            raise UnitError(f"'{word}' counts none: expected 1 or more")
    if len(counts) > MAX_TREE_LEVELS:
        raise UnitError(f"{len(counts)} levels; expected at most {MAX_TREE_LEVELS}")
    return counts


def _refuse_uneven(level: str, counts_: list[int], parents: list[TreeGroup]) -> None:
    if len(parents) % len(counts_):
        raise UnitError(
            f"'{level}' lists {len(counts_)} counts for {len(parents)} parents: expected one for"
            " each, or a list that repeats evenly"
        )


def _children(level: str, counts_: list[int], parents: list[TreeGroup]) -> list[TreeGroup]:
    _refuse_uneven(level, counts_, parents)
    if sum(counts_) * len(parents) // len(counts_) > MOST_HARTS:
        raise UnitError(f"more than {MOST_HARTS} of '{level}'; expected at most {MOST_HARTS} harts")
    groups: list[TreeGroup] = []
    for position, parent in enumerate(parents):
        for local in range(counts_[position % len(counts_)]):
            path = f"{parent.path}.{level}{local}" if parent.path else f"{level}{local}"
            group = TreeGroup(level, len(groups), path, (*parent.ancestors, parent.index))
            parent.children.append(group)
            groups.append(group)
    return groups
