"""Makes names for groups of elements, such as all elements of an array (`program.fields`).

alike(names)["nodes[3].next"] -> "nodes[].next"      also for "nodes->next", which is element 0
whole_object("nodes[].next") -> "nodes[]"            without the field
"""

from __future__ import annotations

import re
from collections.abc import Iterable

HEAP = "allocated, led to by no pointer"
STACKS = "stacks"


def alike(names: Iterable[str]) -> dict[str, str]:
    """Maps each name to the name of its array, heap or stacks, or to itself if it has none."""
    generals = {name: _element(name) for name in names}
    arrays = {name for name in generals.values() if "[]" in name}
    bases = {name[: at.start()] for name in arrays for at in re.finditer(r"\[\]", name)}
    return {name: _first_of(general, arrays, bases) for name, general in generals.items()}


def _element(name: str) -> str:
    if name.startswith("0x"):
        return HEAP
    if name.startswith("stack of hart"):
        return STACKS
    return re.sub(r"\[\d+\]", "[]", re.sub(r"\+0x[0-9a-f]+$", "", name))


def _first_of(name: str, arrays: set[str], bases: set[str]) -> str:
    """Returns the array's name if this is its element 0, written as `nodes->next` or `*nodes`."""
    base = name.removeprefix("*").partition("->")[0]
    if name not in arrays and base in bases:
        if name.startswith("*"):
            return f"{base}[]"
        return name.replace("->", "[].", 1)
    return name


def whole_object(name: str) -> str:
    """Returns the array, structure or variable that a field belongs to."""
    array, bracket, _ = name.partition("[]")
    if bracket:
        return array + bracket
    return name.removeprefix("*").partition("->")[0].partition(".")[0]
