"""Completes a machine that lacks tables: proposes the missing tables as TOML text.

    Incomplete(place, message, {"system.resolver": EXAMPLE_ROOT})
                                       the error that a reader raises
    additions(tree, first, resolve)    all that the tree lacks, found by trial
    proposal(tree, first, resolve)     the error message, followed by the proposal
    toml(adds)                         additions as TOML
    written(value)                     one value as TOML

Every proposal has been tested: the machine can be loaded with the additions.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from uncore.errors import UserError
from uncore.topology.document import Branch, Leaf, Place, merged, parse
from uncore.topology.examples import EXAMPLE_VALUES

# dotted name of a table -> its missing keys, each with a value
Additions = Mapping[str, Mapping[str, Any]]
MAX_LACKS = 64  # maximum number of tables that are added to a machine file to complete it
EXAMPLE_JOIN = {"kind": "crossbar", "latency": "20ns", "width": "32B/1ns"}
EXAMPLE_DATA = EXAMPLE_VALUES["data"]
EXAMPLE_ROOT: dict[str, Any] = {"knows": "directory", "at": "home"}
EXAMPLE_ROOT |= {"reply": "direct", "unblock": "completion", "service": "8ns", "grants": 1}


class Incomplete(UserError):
    """The error for a machine that lacks keys or tables.

    `adds` are the additions to propose; `tables` is True if whole tables are missing.
    """

    def __init__(self, message: str, adds: Additions, tables: bool) -> None:
        super().__init__(message)
        self.adds, self.tables = adds, tables


def lacking(place: Place, message: str, adds: Additions) -> Incomplete:
    return Incomplete(f"{place}: {message}", adds, tables=True)


def written(value: Any) -> str:
    """Formats a value as TOML; line breaks in a text are kept."""
    if isinstance(value, str) and "\n" in value and "'''" not in value:
        return f"'''{value}'''"
    return json.dumps(value, ensure_ascii=False)


def toml(adds: Additions) -> str:
    tables = []
    for table, keys in adds.items():
        head = [f"[{table}]"] if table else []
        tables.append("\n".join([*head, *(f"{key} = {written(keys[key])}" for key in keys)]))
    return "\n\n".join(tables)


def additions(
    tree: Branch, first: Incomplete, resolve: Callable[[Branch], object]
) -> Additions | None:
    """Finds additions that complete the tree, starting from the first error; returns None if no
    additions suffice.
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
            completed = merged(tree, parse(toml(dict(sorted(adds.items()))), "added", "estimate"))
            resolve(completed)
            lack = None
        except Incomplete as another:
            lack = another
        except UserError:
            return None
    return None if lack else adds


def proposal(tree: Branch, first: Incomplete, resolve: Callable[[Branch], object]) -> UserError:
    """Returns the error to raise, which is `first`, followed by the TOML text that would complete
    the machine if such a text was found.
    """
    if not first.tables:
        return UserError(str(first))
    adds = additions(tree, first, resolve)
    if adds is None:
        return UserError(str(first))
    absent = {table: keys for table, keys in adds.items() if not _has_table(tree, table)}
    lines = [str(first)]
    for table in adds.keys() - absent.keys():
        keys = ", ".join(f"{key} = {written(value)}" for key, value in adds[table].items())
        lines.append(f"write in [{table}]: {keys}")
    return UserError("\n".join([*lines, *(["add", "", toml(absent)] if absent else [])]))


def _has_table(tree: Branch, table: str) -> bool:
    node: Branch | Leaf | None = tree
    for part in table.split("."):
        node = node.items.get(part) if isinstance(node, Branch) else None
    return isinstance(node, Branch)
