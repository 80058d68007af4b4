"""Keys that a machine must state and does not: all of them, found before any is read.

    refuse_missing(root)    a UserError that names them table by table, with an example of each

A level's join, data and resolver may be absent; the keys of one that is there may not.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from uncore.topology.document import Branch, Leaf, Place
from uncore.topology.examples import example, value
from uncore.topology.incomplete import Incomplete
from uncore.topology.keys import ANY, BELOW, KEYS, LEVEL, schema_path
from uncore.topology.unknown import known_in

HOPS = {"latency", "dx", "dy"}  # keys of a mesh, whose hops may each state their own (joins.py)
WHOLE = "`uncore show --complete FILE` prints a whole file that would do"
Lack = tuple[Place, str, list[str]]  # a table that lacks keys: its place, its name, and the keys


def lack(place: Place, table: str, keys: Collection[str]) -> Incomplete:
    """The error that a table lacks these keys, with the text to write."""
    where = f"[{table}]" if table else "the file"
    names = ", ".join(f"'{key}'" for key in keys)
    examples = ", ".join(example(table, key) for key in keys)
    adds = {key: found for key in keys if (found := value(table, key)) is not None}
    words = f"{place}: {where} lacks {names}; write {examples}"
    return Incomplete(words, {table: adds}, tables=False)


def refuse_missing(root: Branch) -> None:
    lacks = list(_lacks(root))
    if lacks:
        errors = [lack(*one) for one in lacks]
        adds = {table: keys for error in errors for table, keys in error.adds.items()}
        words = [*map(str, errors), *([WHOLE] if len(errors) > 1 else [])]
        raise Incomplete("\n".join(words), adds, tables=False)


def _lacks(root: Branch) -> Iterator[Lack]:
    keys = [key for key in BELOW[""] - ANY if key in KEYS and _needed(root, "", key)]
    if keys:
        yield root.place, "", sorted(keys)
    stated = {name: node for name, node in root.items.items() if isinstance(node, Branch)}
    absent = {name: Branch(root.place) for name in BELOW[""] - ANY if name in BELOW}
    for name, branch in sorted({**absent, **stated}.items()):
        yield from _of_table(branch, name, schema_path(name))


def _of_table(branch: Branch, table: str, path: str) -> Iterator[Lack]:
    if path not in BELOW or _is_none(branch):
        return
    keys = [key for key in known_in(branch, path) - ANY if _needed(branch, path, key)]
    if keys:
        yield branch.place, table, sorted(keys)
    for name, node in branch.items.items():
        if isinstance(node, Branch):
            yield from _of_table(node, f"{table}.{name}", f"{path}.{name}")


def _needed(branch: Branch, path: str, last: str) -> bool:
    """A key without a default, or a table outside the levels of such keys alone, is not there."""
    stated = HOPS if path == f"{LEVEL}.join" and last == "latency" else {last}
    if stated & branch.items.keys():
        return False
    name = f"{path}.{last}" if path else last
    if name in KEYS:
        return KEYS[name].required and not KEYS[name].joins
    inner = BELOW.get(name, set()) - ANY if path != LEVEL else set()
    return bool(inner) and all(KEYS[f"{name}.{key}"].required for key in inner)


def _is_none(branch: Branch) -> bool:
    """`l2 = "none"`, `data = "none"`: there is no such cache."""
    leaves = (branch.items.get(key) for key in ("size", "policy"))
    return any(isinstance(leaf, Leaf) and leaf.value == "none" for leaf in leaves)
