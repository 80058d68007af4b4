"""Replaces values in a document, as a person edits a file by hand.

places(document) returns the paths of all values in it; of a long list, only those of the first
items. edited(document, changes) returns a copy with the changes, each a path and a value; a change
whose path no longer exists is skipped. changes_from(document, data) returns the changes that a
fuzzer's bytes select, one for each four bytes.
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
NUMBERS = 1 << 15  # a value below this one selects a number, not a scrap

Place = tuple[Any, ...]
Change = tuple[Place, Any]


def places(value: Any, path: Place = ()) -> list[Place]:
    paths = [path] if path else []
    inner = value.items() if isinstance(value, dict) else enumerate(value[:MAX_LIST_ITEMS])
    for key, inner_value in inner if isinstance(value, (dict, list)) else ():
        paths += (
            places(inner_value, (*path, key))
            if isinstance(inner_value, (dict, list))
            else [(*path, key)]
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
            continue  # another change has removed the path
    return copied


def changes_from(document: dict[str, Any], data: bytes) -> Iterator[Change]:
    """Yields a change for every four bytes: two select the path, two the value. A number is
    replaced by a number, any other value by any scrap.
    """
    all_paths = places(document)
    numbers = [path for path in all_paths if type(_at(document, path)) is int]
    for offset in range(0, len(data) - 3, 4):
        path, value = (int.from_bytes(data[n : n + 2], "little") for n in (offset, offset + 2))
        if value < NUMBERS:
            yield numbers[path % len(numbers)], value
        else:
            yield all_paths[path % len(all_paths)], SCRAPS[value % len(SCRAPS)]


def _at(value: Any, path: Place) -> Any:
    return functools.reduce(lambda inner, key: inner[key], path, value)
