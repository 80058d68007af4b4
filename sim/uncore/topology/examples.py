"""Examples of keys, as a teaching machine writes them, for messages about missing keys.

value("system.resolver", "grants") -> 1               None: no teaching machine has it
example("system.resolver", "grants") -> 'grants = 1'
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from functools import cache
from typing import Any

from uncore.support.paths import TOPOLOGIES

FILES = ("families/teaching", "families/base", "ccx", "mesh")  # the first that has the key
# Examples of keys that no teaching machine has, or only in a short form, by the last part of the
# table's name.
BESIDE: dict[str, dict[str, Any]] = {
    "": {"name": "a machine", "tree": "core:4 thread:1"},
    "l1": {"size": "32KiB", "ways": 8, "latency": "4cy"},
    "l2": {"size": "512KiB", "ways": 8, "latency": "14cy"},
    "data": {"policy": "victim", "size": "4MiB", "ways": 16, "latency": "10ns"},
    "join": {"size": "8x8"},
}


def example(table: str, key: str) -> str:
    found = value(table, key)
    return f"{key} = {json.dumps(found)}" if found is not None else f"{key} = ..."


def value(table: str, key: str) -> Any:
    kind = table.rpartition(".")[2]
    if key in BESIDE.get(kind, ()):
        return BESIDE[kind][key]
    for document in _documents():
        for candidate in _called(document, kind):
            found = candidate.get(key, {})
            found = found.get("value", {}) if isinstance(found, dict) else found
            if isinstance(found, (str, int, float)):
                return found
    return None


@cache
def _documents() -> tuple[dict[str, Any], ...]:
    return tuple(tomllib.loads((TOPOLOGIES / f"{file}.toml").read_text()) for file in FILES)


def _called(document: dict[str, Any], kind: str) -> Iterator[dict[str, Any]]:
    """The tables of this name, of the file and of its levels; of no name the file."""
    for table in (document, *filter(lambda value: isinstance(value, dict), document.values())):
        if not kind:
            yield document
        elif isinstance(inner := table.get(kind), dict):
            yield inner
