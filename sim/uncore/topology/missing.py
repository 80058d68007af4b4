"""Finds all keys that a machine must have and lacks, before any key is read.

    refuse_missing(root)    raises a UserError that names them table by table, with examples

A level's join, data and resolver may each be absent, but not incomplete.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from uncore.topology.document import Branch, Leaf, Place
from uncore.topology.examples import example, value
from uncore.topology.incomplete import Incomplete
from uncore.topology.keys import KEYS, KEYS_BELOW, LEVEL, PLACEHOLDERS, schema_path
from uncore.topology.unknown import known_in

HOP_LATENCY_KEYS = {"latency", "dx", "dy"}  # a mesh may have `dx`, `dy` instead of `latency`
COMPLETE_HINT = "`uncore show --complete FILE` prints a whole file that would do"
Lack = tuple[Place, str, list[str]]  # place and name of a table, and the keys that it lacks


def lack(place: Place, table: str, keys: Collection[str]) -> Incomplete:
    """Returns the error for a table that lacks these keys, with the text to write."""
    table_text = f"[{table}]" if table else "the file"
    names = ", ".join(f"'{key}'" for key in keys)
    examples = ", ".join(example(table, key) for key in keys)
    adds = {key: example_value for key in keys if (example_value := value(table, key)) is not None}
    message = f"{place}: {table_text} lacks {names}; write {examples}"
    return Incomplete(message, {table: adds}, tables=False)


def refuse_missing(root: Branch) -> None:
    lacks = list(_lacks(root))
    if lacks:
        errors = [lack(*table_lack) for table_lack in lacks]
        adds = {table: keys for error in errors for table, keys in error.adds.items()}
        message_lines = [*map(str, errors), *([COMPLETE_HINT] if len(errors) > 1 else [])]
        raise Incomplete("\n".join(message_lines), adds, tables=False)


def _lacks(root: Branch) -> Iterator[Lack]:
    keys = [
        key for key in KEYS_BELOW[""] - PLACEHOLDERS if key in KEYS and _is_needed(root, "", key)
    ]
    if keys:
        yield root.place, "", sorted(keys)
    stated = {name: node for name, node in root.items.items() if isinstance(node, Branch)}
    absent = {
        name: Branch(root.place) for name in KEYS_BELOW[""] - PLACEHOLDERS if name in KEYS_BELOW
    }
    for name, branch in sorted({**absent, **stated}.items()):
        yield from _lacks_of_table(branch, name, schema_path(name))


def _lacks_of_table(branch: Branch, table: str, path: str) -> Iterator[Lack]:
    if path not in KEYS_BELOW or _states_no_cache(branch):
        return
    keys = [key for key in known_in(branch, path) - PLACEHOLDERS if _is_needed(branch, path, key)]
    if keys:
        yield branch.place, table, sorted(keys)
    for name, node in branch.items.items():
        if isinstance(node, Branch):
            yield from _lacks_of_table(node, f"{table}.{name}", f"{path}.{name}")


def _is_needed(branch: Branch, path: str, last_part: str) -> bool:
    """Returns True if this key is absent and required: it has no default, or it is a table whose
    keys have no defaults.
    """
    stated = HOP_LATENCY_KEYS if path == f"{LEVEL}.join" and last_part == "latency" else {last_part}
    if stated & branch.items.keys():
        return False
    name = f"{path}.{last_part}" if path else last_part
    if name in KEYS:
        return KEYS[name].required and not KEYS[name].joins
    inner = KEYS_BELOW.get(name, set()) - PLACEHOLDERS if path != LEVEL else set()
    return bool(inner) and all(KEYS[f"{name}.{key}"].required for key in inner)


def _states_no_cache(branch: Branch) -> bool:
    """Returns True for `l2 = "none"` and `data = "none"`, which mean that there is no such
    cache.
    """
    leaves = (branch.items.get(key) for key in ("size", "policy"))
    return any(isinstance(leaf, Leaf) and leaf.value == "none" for leaf in leaves)
