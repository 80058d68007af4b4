"""Documents with some values replaced, as somebody edits a file by hand.

places(document)             every value inside; of a long list the first ones
edited(document, changes)    a copy with these (place, value); what no longer exists is skipped
chosen(document, data)       changes that bytes choose, for a fuzzer: four bytes each
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
MOST = 9  # of a list
NUMBERS = 1 << 15  # below: a number

Place = tuple[Any, ...]
Change = tuple[Place, Any]


def places(value: Any, here: Place = ()) -> list[Place]:
    found = [here] if here else []
    inner = value.items() if isinstance(value, dict) else enumerate(value[:MOST])
    for key, one in inner if isinstance(value, (dict, list)) else ():
        found += places(one, (*here, key)) if isinstance(one, (dict, list)) else [(*here, key)]
    return found


def edited(document: dict[str, Any], changes: Iterable[Change]) -> dict[str, Any]:
    found = copy.deepcopy(document)
    for place, value in changes:
        inner: Any = found
        try:
            for key in place[:-1]:
                inner = inner[key]
            inner[place[-1]] = value
        except (TypeError, IndexError, KeyError):
            continue  # another change has removed the place
    return found


def chosen(document: dict[str, Any], data: bytes) -> Iterator[Change]:
    """Two bytes for the place, two for the value: another number for a number, or any scrap."""
    everything = places(document)
    numbers = [place for place in everything if type(_at(document, place)) is int]
    for at in range(0, len(data) - 3, 4):
        place, value = (int.from_bytes(data[n : n + 2], "little") for n in (at, at + 2))
        if value < NUMBERS:
            yield numbers[place % len(numbers)], value
        else:
            yield everything[place % len(everything)], SCRAPS[value % len(SCRAPS)]


def _at(value: Any, place: Place) -> Any:
    return functools.reduce(lambda inner, key: inner[key], place, value)
