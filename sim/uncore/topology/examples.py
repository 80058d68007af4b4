"""How a key is written: as a teaching machine writes it, for whoever has left it out.

example("system.resolver", "grants") -> 'grants = 1'      of an unknown key: 'key = ...'
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from typing import Any

from uncore.support.paths import TOPOLOGIES

FILES = ("families/teaching", "families/base", "ccx", "mesh")  # the first that has the key


def example(table: str, key: str) -> str:
    kind = table.rpartition(".")[2]
    for file in FILES:
        document = tomllib.loads((TOPOLOGIES / f"{file}.toml").read_text())
        for candidate in _called(document, kind):
            value = candidate.get(key, {})
            value = value.get("value", {}) if isinstance(value, dict) else value
            if isinstance(value, (str, int, float)):
                return f"{key} = {json.dumps(value)}"
    return f"{key} = ..."


def _called(document: dict[str, Any], kind: str) -> Iterator[dict[str, Any]]:
    """The tables of this name, of the file and of its levels; of no name the file."""
    for table in (document, *filter(lambda value: isinstance(value, dict), document.values())):
        if not kind:
            yield document
        elif isinstance(inner := table.get(kind), dict):
            yield inner
