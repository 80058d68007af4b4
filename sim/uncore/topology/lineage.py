"""Reads the ancestry of a machine's parts, by which predictions of numbers find related parts.

    [lineage]
    core   = "x86 amd zen zen2"        for a level: words from the general to the special
    socket = "amd io-die rome"
    year   = 2027                      year of sale; default: that of the words whose year is known

`lineage(name)` returns {"core": ("x86", "amd", "zen", "zen2"), ...}, `year(name)` the year. Two
parts are the more closely related, the more leading words they share. A level without an entry has
no relatives. Each level has its own ancestry, because makers combine them: a Zen 3 server has the
IO die of Zen 2.

Invariant: the simulation does not read the lineage.
"""

from __future__ import annotations

from pathlib import Path

from uncore.topology.document import Branch, Leaf
from uncore.topology.load import read
from uncore.topology.schema import YEAR

Descent = tuple[str, ...]


def lineage(name_or_path: str | Path) -> dict[str, Descent]:
    stated = _stated_lineage(name_or_path)
    return {key: tuple(text.split()) for key, text in stated.items() if key != YEAR}


def year(name_or_path: str | Path) -> int | None:
    stated = _stated_lineage(name_or_path)
    return int(stated[YEAR]) if YEAR in stated else None


def _stated_lineage(name_or_path: str | Path) -> dict[str, str]:
    tree, _ = read(str(name_or_path))
    table = tree.items.get("lineage")
    nodes = table.items if isinstance(table, Branch) else {}
    return {key: str(node.value) for key, node in nodes.items() if isinstance(node, Leaf)}


def nearness(descent: Descent, other: Descent) -> int:
    """Returns the number of leading words that two descents share."""
    same = [a == b for a, b in zip(descent, other, strict=False)]
    return same.index(False) if False in same else len(same)
