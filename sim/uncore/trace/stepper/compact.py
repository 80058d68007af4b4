"""A stepper's document in few bytes, as unpack.js reads it.

    compact(document) -> dict     tables by column, ways by their routes

A column of whole numbers is written as differences, each from the one before, because times and
numbers of requests ascend; a way as the number of its route, the time that each link took, and the
wait for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

EXACT = 2**53  # up to which a number of JavaScript is the whole number that was written


def compact(document: dict[str, Any]) -> dict[str, Any]:
    tables = {
        name: [_column(column) for column in zip(*rows, strict=True)]
        for name, rows in document["tables"].items()
    }
    return document | {"tables": tables, "ways": _ways(document["ways"])}


def _column(values: Sequence[Any]) -> dict[str, list[int]] | Sequence[Any]:
    if not all(isinstance(value, int) and abs(value) < EXACT for value in values):
        return values
    return {"differences": [b - a for a, b in pairwise((0, *values))]}


def _ways(ways: Sequence[Sequence[Sequence[int]]]) -> dict[str, Any]:
    """A message leaves when it is sent, so the first of its times is not written."""
    numbers: dict[tuple[int, ...], int] = {}
    return {
        "of": [numbers.setdefault(tuple(stops), len(numbers)) for stops, _, _ in ways],
        "routes": list(numbers),
        "took": [b - a for _, times, _ in ways for a, b in pairwise(times)],
        "waited": [wait for _, _, waits in ways for wait in waits],
    }
