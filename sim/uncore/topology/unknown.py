"""Finds keys that no field of a machine declares, before any key is read.

    refuse_unknown(root, levels, kinds, memory_kinds)   raises a UserError for the first such key

Therefore a misspelt key is reported as unknown, with similar names, and not as a missing key.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from uncore.errors import UserError, suggestion
from uncore.topology.document import Branch, Leaf, wrong
from uncore.topology.keys import (
    KEYS_BELOW,
    LEVEL,
    PLACEHOLDERS,
    RESERVED_NAMES,
    of_join,
    schema_path,
)

READ_BEFORE = {"extends", "source"}  # keys that are removed when files are merged


def refuse_unknown(
    root: Branch, levels: Collection[str], kinds: Collection[str], memory_kinds: Collection[str]
) -> None:
    """Raises a UserError for the first key, in the order of the file, that no field declares."""
    tables = (RESERVED_NAMES | set(levels)) - READ_BEFORE
    for name, node in root.items.items():
        if name not in tables:
            raise _unknown_key_error(node, name, "", tables)
        if isinstance(node, Branch):
            _KnownKeys(kinds, memory_kinds).table(node, name, schema_path(name))


@dataclass
class _KnownKeys:
    kinds: Collection[str]
    memory_kinds: Collection[str]

    def table(self, branch: Branch, key: str, path: str) -> None:
        if path not in KEYS_BELOW:
            raise wrong(branch.place, f"'{key}' expects a value, not a table")
        keys, kinds = known_in(branch, path), self.kinds_in(path)
        for name, node in branch.items.items():
            full_name, inner_path = f"{key}.{name}", f"{path}.{name}"
            if isinstance(node, Branch) and name in kinds:
                self.table(node, full_name, path)
            elif name not in keys and not keys & PLACEHOLDERS:
                raise _unknown_key_error(node, name, key, [*kinds, *self.names(path, keys)])
            elif isinstance(node, Branch):
                self.table(node, full_name, inner_path)

    def kinds_in(self, path: str) -> Collection[str]:
        return {"core": self.kinds, LEVEL: self.kinds, "memory": self.memory_kinds}.get(path, ())

    def names(self, path: str, keys: Iterable[str]) -> Iterator[str]:
        """Yields known names, including those in inner tables, because a user may write `l1_size`
        for `l1.size`.
        """
        for name in sorted(keys):
            yield name
            yield from (f"{name}.{inner}" for inner in sorted(KEYS_BELOW.get(f"{path}.{name}", ())))


def _unknown_key_error(
    node: Leaf | Branch, name: str, table: str, keys: Iterable[str]
) -> UserError:
    prefix = f"{table}." if table else ""
    names = list(keys)
    known_keys = ", ".join(sorted(key for key in names if "." not in key))
    hint = (
        suggestion(prefix + name, (prefix + key for key in names)) or f" Known here: {known_keys}."
    )
    if table and "." not in table and isinstance(node, Branch):
        hint += " If it is a kind, [kinds] must say where."
    if not node.place.line:  # the key was given on the command line
        hint += " `uncore show MACHINE --keys` lists all."
    return wrong(node.place, f"unknown key '{prefix}{name}'.{hint}")


def known_in(branch: Branch, path: str) -> set[str]:
    """Returns the last parts of the keys that the table at this path can have."""
    kind = branch.items.get("kind")
    if path == f"{LEVEL}.join" and isinstance(kind, Leaf):
        return of_join(str(kind.value))
    return KEYS_BELOW[path]
