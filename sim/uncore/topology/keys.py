"""The keys of a machine file: those that some field of a machine declares, and no other.

    KEYS                    by name: "core.l1.size", "LEVEL.join.latency", "clocks.NAME"
    BELOW                   of a table, the last parts of its keys and tables; "": of the file
    schema_path(table)      under which of these names the keys of a table stand
    of_join(kind)           the keys of such a join

Invariant: nobody else lists them.
"""

from __future__ import annotations

from collections import defaultdict

from uncore.topology.machine import BESIDE, PARTS
from uncore.topology.schema import Key, fields

LEVEL = "LEVEL"
ANY = {LEVEL, "NAME"}  # last parts that stand for whatever is called so

DECLARED = (*(key for part in PARTS for declared in fields(part) for key in declared.keys), *BESIDE)
KEYS: dict[str, Key] = {key.name: key for key in DECLARED}


def _below() -> dict[str, set[str]]:
    below = defaultdict[str, set[str]](set)
    for name in KEYS:
        while name:
            name, _, last = name.rpartition(".")
            below[name].add(last)
    return dict(below)


BELOW = _below()
RESERVED_NAMES = BELOW[""] - {LEVEL, "core"}  # names that no level can have


def schema_path(table: str) -> str:
    """The path in the schema of a table at the top of a file."""
    return table if table in BELOW[""] else LEVEL


def of_join(kind: str) -> set[str]:
    """The keys of a kind of join; of an unknown kind, those of all."""
    keys = {last: KEYS[f"{LEVEL}.join.{last}"] for last in BELOW[f"{LEVEL}.join"]}
    if kind not in keys["kind"].words:
        return set(keys)
    return {last for last, key in keys.items() if not key.joins or kind in key.joins}
