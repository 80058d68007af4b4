"""Finds example values of keys in the teaching machines, for messages about missing keys.

value("system.resolver", "grants") -> 1               None if no teaching machine has the key
example("system.resolver", "grants") -> 'grants = 1'
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from functools import cache
from typing import Any

from uncore.support.paths import TOPOLOGIES

EXAMPLE_FILES = ("families/teaching", "families/base", "ccx", "mesh")  # searched in this order
# Examples for keys that no teaching machine has, or has only in a short form. The outer key is the
# last part of the table's name.
EXAMPLE_VALUES: dict[str, dict[str, Any]] = {
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
    if key in EXAMPLE_VALUES.get(kind, ()):
        return EXAMPLE_VALUES[kind][key]
    for document in _documents():
        for candidate in _tables_named(document, kind):
            example_value = candidate.get(key, {})
            example_value = (
                example_value.get("value", {}) if isinstance(example_value, dict) else example_value
            )
            if isinstance(example_value, (str, int, float)):
                return example_value
    return None


@cache
def _documents() -> tuple[dict[str, Any], ...]:
    return tuple(tomllib.loads((TOPOLOGIES / f"{file}.toml").read_text()) for file in EXAMPLE_FILES)


def _tables_named(document: dict[str, Any], kind: str) -> Iterator[dict[str, Any]]:
    """Yields the tables named `kind` at the top of the file and in its levels; "" is the file
    itself.
    """
    for table in (document, *filter(lambda value: isinstance(value, dict), document.values())):
        if not kind:
            yield document
        elif isinstance(inner := table.get(kind), dict):
            yield inner
