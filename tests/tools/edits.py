"""Replaces values in a document, as somebody edits a file by hand.

places(document)             the places of all values in it; in a long list, of the first ones
edited(document, changes)    a copy with these (place, value); places that are gone are skipped
chosen(document, data)       changes that the bytes of a fuzzer choose, four bytes for each
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Iterable, Iterator
from typing import Any

SCRAPS = [
    None,
    True,
    "",
    *("none", "snoop", "directory", "inclusive", "victim", "completion", "ü"),
    [],
    {},
    1.5,
    -1,
    0,
    1,
    2,
    7,
    2**20,
    2**31,
    2**32,
    2**63,
    2**64,
]
MAX_LIST_ITEMS = 9
NUMBERS = 1 << 15  # below: a number

Place = tuple[Any, ...]
Change = tuple[Place, Any]


def places(value: Any, here: Place = ()) -> list[Place]:
    paths = [here] if here else []
    inner = value.items() if isinstance(value, dict) else enumerate(value[:MAX_LIST_ITEMS])
    for key, inner_value in inner if isinstance(value, (dict, list)) else ():
        paths += (
            places(inner_value, (*here, key))
            if isinstance(inner_value, (dict, list))
            else [(*here, key)]
        )
    return paths


def edited(document: dict[str, Any], changes: Iterable[Change]) -> dict[str, Any]:
    copied = copy.deepcopy(document)
    for path, value in changes:
        inner: Any = copied
        try:
            for key in path[:-1]:
                inner = inner[key]
            inner[path[-1]] = value
        except (TypeError, IndexError, KeyError):
            continue  # another change has removed the place
    return copied


def chosen(document: dict[str, Any], data: bytes) -> Iterator[Change]:
    """Yields a change for every four bytes: two choose the place, two the value. A number is
    replaced by a number, anything else by any value.
    """
    everything = places(document)
    numbers = [path for path in everything if type(_at(document, path)) is int]
    for at in range(0, len(data) - 3, 4):
        path, value = (int.from_bytes(data[n : n + 2], "little") for n in (at, at + 2))
        if value < NUMBERS:
            yield numbers[path % len(numbers)], value
        else:
            yield everything[path % len(everything)], SCRAPS[value % len(SCRAPS)]


def _at(value: Any, path: Place) -> Any:
    return functools.reduce(lambda inner, key: inner[key], path, value)
