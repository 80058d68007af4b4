"""The keys of a machine file, which are exactly those that a field of a machine declares.

    KEYS                    the keys by name: "core.l1.size", "LEVEL.join.latency", "clocks.NAME"
    KEYS_BELOW              the last parts of the keys and tables in each table ("" is the file)
    schema_path(table)      the schema's name of a table at the top of a file
    of_join(kind)           the keys of this kind of join

Invariant: no other module lists keys.
"""

from __future__ import annotations

from collections import defaultdict

from uncore.topology.machine import INDIRECT_KEYS, PARTS
from uncore.topology.schema import Key, fields

LEVEL = "LEVEL"
PLACEHOLDERS = {LEVEL, "NAME"}  # placeholders in keys, which stand for any name

DECLARED_KEYS = (
    *(key for part in PARTS for declared in fields(part) for key in declared.keys),
    *INDIRECT_KEYS,
)
KEYS: dict[str, Key] = {key.name: key for key in DECLARED_KEYS}


def _keys_below() -> dict[str, set[str]]:
    below = defaultdict[str, set[str]](set)
    for name in KEYS:
        while name:
            name, _, last = name.rpartition(".")
            below[name].add(last)
    return dict(below)


KEYS_BELOW = _keys_below()
# Names that no level can have, because other tables of a file have them.
RESERVED_NAMES = KEYS_BELOW[""] - {LEVEL, "core"}


def schema_path(table: str) -> str:
    """Returns the schema's name of a table at the top of a file: LEVEL if it is a level's table."""
    return table if table in KEYS_BELOW[""] else LEVEL


def of_join(kind: str) -> set[str]:
    """Returns the keys of a kind of join; for an unknown kind, the keys of all kinds."""
    keys = {last: KEYS[f"{LEVEL}.join.{last}"] for last in KEYS_BELOW[f"{LEVEL}.join"]}
    if kind not in keys["kind"].words:
        return set(keys)
    return {last for last, key in keys.items() if not key.joins or kind in key.joins}
