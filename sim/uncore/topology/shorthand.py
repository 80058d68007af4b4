"""Expands the short forms of a machine file into the tables for which they stand.

    join = "crossbar 9cy 32B/cy"     { kind = "crossbar", latency = "9cy", width = "32B/cy" }
    join = "mesh 6x5 2cy"            { kind = "mesh", size = "6x5", latency = "2cy" }
    l1   = "32KiB 8-way 4cy"         { size = "32KiB", ways = "8", latency = "4cy" }
    data = "victim 8MiB 16-way"      { policy = "victim", size = "8MiB", ways = "16" }

`written_out(path, text)` returns the table's items, or None if the key has no short form.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from uncore.errors import suggestion
from uncore.topology.keys import RESERVED_NAMES
from uncore.topology.link import JOINS
from uncore.topology.parts import DATA_POLICIES
from uncore.topology.units import UnitError, cache_parts


def written_out(path: tuple[str, ...], text: str) -> dict[str, str] | None:
    if len(path) not in (2, 3):  # a key of a level, or of a kind in it (kinds.py)
        return None
    table, key = path[0], path[-1]
    forms: dict[str, Callable[[str], dict[str, str]]] = {"join": _join, "data": _data}
    if table == "core":
        forms = {"l1": _cache, "l2": _cache}
    elif table == "memory":
        forms = {"cache": _cache}
    elif table in RESERVED_NAMES:
        return None
    return forms[key](text) if key in forms else None


def _join(text: str) -> dict[str, str]:
    kind, *words = re.sub(r"\s*\+\s*", "+", text).split() or [""]
    if kind not in JOINS:
        raise UnitError(
            f"'{kind}' is no kind of join: expected one of {', '.join(JOINS)}."
            + suggestion(kind, JOINS)
        )
    parts = {"kind": kind}
    for word in words:
        part = _join_part(word)
        if part in parts:
            raise UnitError(f"'{word}' is a second {part}: expected KIND [WxH] [LATENCY] [WIDTH]")
        parts[part] = word
    return parts


def _join_part(word: str) -> str:
    if re.fullmatch(r"\d+x\d+", word):
        return "size"
    return "width" if "/" in word else "latency"


def _data(text: str) -> dict[str, str]:
    policy, _, cache = text.strip().partition(" ")
    if policy not in DATA_POLICIES:
        raise UnitError(
            f"'{policy}' is no storage policy: expected one of {', '.join(DATA_POLICIES)},"
            f' like "victim 8MiB 16-way 10cy".{suggestion(policy, DATA_POLICIES)}'
        )
    return {"policy": policy} | (cache_parts(cache) if policy != "none" else {})


def _cache(text: str) -> dict[str, str]:
    return {"size": "none"} if text.strip() == "none" else cache_parts(text)
