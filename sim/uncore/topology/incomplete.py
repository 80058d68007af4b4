"""A machine that lacks tables, and the tables that make it whole, as TOML that can be pasted.

    Incomplete(place, message, {"system.resolver": EXAMPLE_ROOT})  what a reader raises
    additions(tree, first, resolve)     all that the tree lacks, found by adding and reading anew
    proposal(tree, first, resolve)      the refusal with that under it
    toml(adds)                              the same as text
    written(value)                          one value

Nothing is proposed that was not read: with the additions the machine loads.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from uncore.errors import UserError
from uncore.topology.document import Branch, Leaf, Place, merged, parse
from uncore.topology.examples import BESIDE

Adds = Mapping[str, Mapping[str, Any]]  # dotted name of a table -> keys and values to add
MAX_LACKS = 64  # tables or links that one machine may lack
JOIN = {"kind": "crossbar", "latency": "20ns", "width": "32B/1ns"}
EXAMPLE_DATA = BESIDE["data"]
EXAMPLE_ROOT: dict[str, Any] = {"knows": "directory", "at": "home"}
EXAMPLE_ROOT |= {"reply": "direct", "unblock": "completion", "service": "8ns", "grants": 1}


class Incomplete(UserError):
    """The error that a machine lacks keys or tables. `tables`: True if whole tables are missing."""

    def __init__(self, message: str, adds: Adds, tables: bool) -> None:
        super().__init__(message)
        self.adds, self.tables = adds, tables


def lacking(place: Place, message: str, adds: Adds) -> Incomplete:
    return Incomplete(f"{place}: {message}", adds, tables=True)


def written(value: Any) -> str:
    """A value in TOML; lines stay lines."""
    if isinstance(value, str) and "\n" in value and "'''" not in value:
        return f"'''{value}'''"
    return json.dumps(value, ensure_ascii=False)


def toml(adds: Adds) -> str:
    tables = []
    for table, keys in adds.items():
        head = [f"[{table}]"] if table else []
        tables.append("\n".join([*head, *(f"{key} = {written(keys[key])}" for key in keys)]))
    return "\n\n".join(tables)


def additions(tree: Branch, first: Incomplete, resolve: Callable[[Branch], object]) -> Adds | None:
    """Additions that complete the tree, from the first refusal on; None if additions alone do not
    suffice.
    """
    adds: dict[str, dict[str, Any]] = {}
    lack: Incomplete | None = first
    while lack is not None and len(adds) < MAX_LACKS:
        before = toml(adds)
        for table, keys in lack.adds.items():
            adds.setdefault(table, {}).update(keys)
        if toml(adds) == before:
            return None
        try:
            whole = merged(tree, parse(toml(dict(sorted(adds.items()))), "added", "estimate"))
            resolve(whole)
            lack = None
        except Incomplete as another:
            lack = another
        except UserError:
            return None
    return None if lack else adds


def proposal(tree: Branch, first: Incomplete, resolve: Callable[[Branch], object]) -> UserError:
    """The refusal, with what to write under it."""
    if not first.tables:
        return UserError(str(first))
    adds = additions(tree, first, resolve)
    if adds is None:
        return UserError(str(first))
    absent = {table: keys for table, keys in adds.items() if not _has(tree, table)}
    lines = [str(first)]
    for table in adds.keys() - absent.keys():
        keys = ", ".join(f"{key} = {written(value)}" for key, value in adds[table].items())
        lines.append(f"write in [{table}]: {keys}")
    return UserError("\n".join([*lines, *(["add", "", toml(absent)] if absent else [])]))


def _has(tree: Branch, table: str) -> bool:
    node: Branch | Leaf | None = tree
    for part in table.split("."):
        node = node.items.get(part) if isinstance(node, Branch) else None
    return isinstance(node, Branch)
