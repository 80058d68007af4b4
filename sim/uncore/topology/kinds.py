"""Kinds: parts of a machine that differ from the others of their level, as small cores do.

    [kinds]
    small = "cluster2"          where: parts of the tree, named by the end of their paths

    [core.small]                what is different there: of the cores,
    clock = "2.06GHz"
    [cluster.small.data]        and of what holds them
    size  = "4MiB"

What the table of a kind does not say is as in its level's own; cycles are of the kind's clocks.
Memory of another kind says itself where it is: `[memory.hbm]`, with `node` or `groups`.

    kind_names(root)            those of a file
    memory_kinds(memory)        those of its table [memory]
    write_out(root)             completes the tables of kinds by what they inherit, in place
    read_levels(top, tree)      -> LevelTables: which table holds for which part of the tree
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from uncore.topology.document import Branch, Leaf, merged, wrong
from uncore.topology.keys import BELOW, LEVEL, RESERVED_NAMES
from uncore.topology.table_reader import Table
from uncore.topology.tree import Tree, TreeGroup

# Keys of levels and tables of cores; and all cores that are of no kind.
TAKEN = (*sorted(BELOW[LEVEL] | {key for key in BELOW["core"] if f"core.{key}" in BELOW}), "core")
NAME = re.compile(r"[A-Za-z][\w-]*")


def kind_names(root: Branch) -> list[str]:
    kinds = root.items.get("kinds")
    if not isinstance(kinds, Branch):
        return []
    for name, node in kinds.items.items():
        if name in TAKEN or not NAME.fullmatch(name):
            raise wrong(
                node.place,
                f"'kinds.{name}': expected a name of letters and digits, not"
                f" {', '.join(TAKEN[:-1])} or {TAKEN[-1]}, like 'small'",
            )
    return list(kinds.items)


def memory_kinds(memory: Branch | Leaf | None) -> list[str]:
    """The tables in [memory] but its own, in the order of the file."""
    items = memory.items.items() if isinstance(memory, Branch) else ()
    return [
        name for name, node in items if isinstance(node, Branch) and name not in BELOW["memory"]
    ]


def write_out(root: Branch) -> None:
    for level, table in root.items.items():
        if isinstance(table, Branch) and level not in RESERVED_NAMES:
            _complete(table, set(kind_names(root)))
    if isinstance(memory := root.items.get("memory"), Branch):
        _complete(memory, set(memory_kinds(memory)))


def _complete(table: Branch, kinds: set[str]) -> None:
    own = Branch(table.place, {key: node for key, node in table.items.items() if key not in kinds})
    for name in table.items.keys() & kinds:
        if isinstance(node := table.items[name], Branch):
            table.items[name] = merged(own, node)


@dataclass(frozen=True)
class LevelTables:
    """The tables of all levels, cores included: of each level its own ("") and those of kinds."""

    tree: Tree
    tables: Mapping[str, Mapping[str, Table]]
    kinds: Mapping[str, str]  # kind of each group, by its path

    def kind(self, group: TreeGroup) -> str:
        """The kind whose table holds for it."""
        name = self.kinds.get(group.path, "")
        return name if name in self.tables[group.level] else ""

    def of(self, level: str, kind: str) -> list[TreeGroup]:
        """The groups of a level that a kind's table holds for."""
        return [group for group in self.tree.groups(level) if self.kind(group) == kind]


def read_levels(top: Table, tree: Tree) -> LevelTables:
    table = top.table("kinds")
    names = list(table.branch.items) if table else []
    tables = {level: _tables(top, level, names) for level in tree.levels[:-1]}
    levels = LevelTables(tree, tables, _kinds_of_parts(table, tree) if table else {})
    for name in names:
        assert table is not None
        _refuse_idle(levels, table, name)
    return levels


def _kinds_of_parts(table: Table, tree: Tree) -> dict[str, str]:
    """Kind of each part, by path: its own, or else that of the part around it."""
    said: dict[str, str] = {}
    for name in table.branch.items:
        for part in table.read(name, tree.parts):
            if said.setdefault(part.path, name) != name:
                other = said[part.path]
                raise table.wrong(name, f"'kinds.{name}': {part.path} is of '{other}' too")
    kinds: dict[str, str] = {}
    for group in tree.root.groups():  # groups come before the groups inside them
        around = kinds.get(group.path.rpartition(".")[0], "")
        kinds[group.path] = said.get(group.path, around)
    return kinds


def _tables(top: Table, level: str, names: list[str]) -> dict[str, Table]:
    own = top.level(level)
    return {"": own} | {name: top.level(level, name) for name in names if name in own}


def _refuse_idle(levels: LevelTables, table: Table, name: str) -> None:
    """Refuses a kind that differs in nothing, or that is nowhere."""
    where = [level for level, tables in levels.tables.items() if name in tables]
    if not where:
        raise table.wrong(name, f"'kinds.{name}': nothing is different there; write [core.{name}]")
    for level in where:
        if not levels.of(level, name):
            example = levels.tree.groups(level)[-1].path
            raise wrong(
                levels.tables[level][name].branch.place,
                f"[{level}.{name}]: no whole {level} is in 'kinds.{name} = {table.text(name)}';"
                + (f" expected such as {example} there" if example else f" write [{level}]"),
            )
