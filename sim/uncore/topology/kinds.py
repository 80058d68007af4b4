"""Kinds: parts of a machine that differ from the other parts of their level, such as small cores.

    [kinds]
    small = "cluster2"          the parts of this kind, by the ends of their paths in the tree
    [core.small]                the numbers that differ in cores of this kind
    clock = "2.06GHz"
    [cluster.small.data]        the numbers that differ in groups of this kind
    size  = "4MiB"

A kind's table inherits all other keys from the table of its level. Its cycles are those of the
kind's clock. A kind of memory, such as `[memory.hbm]`, states its own position by `node` or
`groups`.

    kind_names(root)            the kinds of a file
    memory_kinds(memory)        the kinds in its table [memory]
    write_out(root)             adds to each kind's table, in place, the keys that it inherits
    read_levels(top, tree)      -> LevelTables, the table that applies to each part of the tree
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from uncore.topology.document import Branch, Leaf, merged, wrong
from uncore.topology.keys import KEYS_BELOW, LEVEL, RESERVED_NAMES
from uncore.topology.table_reader import Table
from uncore.topology.tree import Tree, TreeGroup

# Names that no kind can have: keys of levels, tables of cores, and "core", which means all cores
# without a special kind.
RESERVED_KIND_NAMES = (
    *sorted(KEYS_BELOW[LEVEL] | {key for key in KEYS_BELOW["core"] if f"core.{key}" in KEYS_BELOW}),
    "core",
)
NAME_PATTERN = re.compile(r"[A-Za-z][\w-]*")


def kind_names(root: Branch) -> list[str]:
    kinds = root.items.get("kinds")
    if not isinstance(kinds, Branch):
        return []
    for name, node in kinds.items.items():
        if name in RESERVED_KIND_NAMES or not NAME_PATTERN.fullmatch(name):
            raise wrong(
                node.place,
                f"'kinds.{name}': expected a name of letters and digits, not"
                f" {', '.join(RESERVED_KIND_NAMES[:-1])} or {RESERVED_KIND_NAMES[-1]},"
                " like 'small'",
            )
    return list(kinds.items)


def memory_kinds(memory: Branch | Leaf | None) -> list[str]:
    """Returns the names of the kinds of memory, which are tables in [memory], in the file's
    order.
    """
    items = memory.items.items() if isinstance(memory, Branch) else ()
    return [
        name
        for name, node in items
        if isinstance(node, Branch) and name not in KEYS_BELOW["memory"]
    ]


def write_out(root: Branch) -> None:
    for level, table in root.items.items():
        if isinstance(table, Branch) and level not in RESERVED_NAMES:
            _fill_in_kinds(table, set(kind_names(root)))
    if isinstance(memory := root.items.get("memory"), Branch):
        _fill_in_kinds(memory, set(memory_kinds(memory)))


def _fill_in_kinds(table: Branch, kinds: set[str]) -> None:
    own_table = Branch(
        table.place, {key: node for key, node in table.items.items() if key not in kinds}
    )
    for name in table.items.keys() & kinds:
        if isinstance(node := table.items[name], Branch):
            table.items[name] = merged(own_table, node)


@dataclass(frozen=True)
class LevelTables:
    """The tables of all levels, including cores: for each level, its own table ("") and the tables
    of kinds.
    """

    tree: Tree
    tables: Mapping[str, Mapping[str, Table]]
    kinds: Mapping[str, str]  # the kind of each group, by the group's path

    def kind(self, group: TreeGroup) -> str:
        """Returns the kind whose table applies to the group; "" is the level's own table."""
        name = self.kinds.get(group.path, "")
        return name if name in self.tables[group.level] else ""

    def of(self, level: str, kind: str) -> list[TreeGroup]:
        """Returns the groups of a level to which a kind's table applies."""
        return [group for group in self.tree.groups(level) if self.kind(group) == kind]


def read_levels(top: Table, tree: Tree) -> LevelTables:
    table = top.table("kinds")
    names = list(table.branch.items) if table else []
    tables = {level: _tables(top, level, names) for level in tree.levels[:-1]}
    levels = LevelTables(tree, tables, _kinds_of_parts(table, tree) if table else {})
    for name in names:
        assert table is not None
        _refuse_unused_kind(levels, table, name)
    return levels


def _kinds_of_parts(table: Table, tree: Tree) -> dict[str, str]:
    """Returns, by path, the kind of each part, which it inherits from the enclosing part unless the
    file states one.
    """
    stated_kinds: dict[str, str] = {}
    for name in table.branch.items:
        for part in table.read(name, tree.parts):
            if stated_kinds.setdefault(part.path, name) != name:
                other_kind = stated_kinds[part.path]
                raise table.wrong(name, f"'kinds.{name}': {part.path} is of '{other_kind}' too")
    kinds: dict[str, str] = {}
    for group in tree.root.groups():  # groups come before the groups inside them
        outer_kind = kinds.get(group.path.rpartition(".")[0], "")
        kinds[group.path] = stated_kinds.get(group.path, outer_kind)
    return kinds


def _tables(top: Table, level: str, names: list[str]) -> dict[str, Table]:
    own_table = top.level(level)
    return {"": own_table} | {name: top.level(level, name) for name in names if name in own_table}


def _refuse_unused_kind(levels: LevelTables, table: Table, name: str) -> None:
    """Raises a UserError for a kind that has no table, or whose table applies to no whole part."""
    levels_with_kind = [level for level, tables in levels.tables.items() if name in tables]
    if not levels_with_kind:
        raise table.wrong(name, f"'kinds.{name}': nothing is different there; write [core.{name}]")
    for level in levels_with_kind:
        if not levels.of(level, name):
            example = levels.tree.groups(level)[-1].path
            raise wrong(
                levels.tables[level][name].branch.place,
                f"[{level}.{name}]: no whole {level} is in 'kinds.{name} = {table.text(name)}';"
                + (f" expected such as {example} there" if example else f" write [{level}]"),
            )
