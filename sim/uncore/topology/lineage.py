"""What a machine's parts descend from: who is whose relative when numbers are predicted.

    [lineage]
    core   = "x86 amd zen zen2"        a level: words from the general to the special
    socket = "amd io-die rome"

`lineage(name)` reads them as {"core": ("x86", "amd", "zen", "zen2"), ...}.  Two parts are the
nearer the more leading words they share.  A level that states none has no relatives.  Parts of one
machine have separate ancestors, because makers mix them: a Zen 3 server keeps the IO die of Zen 2.

Invariant: nothing that simulates reads this.
"""

from __future__ import annotations

from pathlib import Path

from uncore.topology.document import Branch, Leaf
from uncore.topology.load import read

Descent = tuple[str, ...]


def lineage(name_or_path: str | Path) -> dict[str, Descent]:
    tree, _ = read(str(name_or_path))
    stated = tree.items.get("lineage")
    nodes = stated.items if isinstance(stated, Branch) else {}
    leaves = {level: node for level, node in nodes.items() if isinstance(node, Leaf)}
    return {level: tuple(str(leaf.value).split()) for level, leaf in leaves.items()}


def nearness(descent: Descent, other: Descent) -> int:
    """How many leading words two descents share."""
    same = [a == b for a, b in zip(descent, other, strict=False)]
    return same.index(False) if False in same else len(same)
