"""Writes a machine's tree of values as the text of one file. Reading the text gives the same tree.

text_of(tree)       the keys at the head of the file, then its tables; each number has its source
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from uncore.topology.document import Branch, Leaf
from uncore.topology.incomplete import written

UNSTATED = "unstated"  # source of a number whose file gives none


def text_of(tree: Branch) -> str:
    return "\n".join(_lines(tree, "", UNSTATED)) + "\n"


def _lines(branch: Branch, name: str, source: str) -> Iterator[str]:
    """Yields the lines of a table and its inner tables. `source` is the source of the enclosing
    table.
    """
    leaves = {key: node for key, node in branch.items.items() if isinstance(node, Leaf)}
    if leaves:
        if name:
            yield f"\n[{name}]"
        most_common_source = Counter(leaf.source for leaf in leaves.values()).most_common(1)[0][0]
        if most_common_source != source:
            yield f"source = {written(most_common_source)}"
            source = most_common_source
        yield from (f"{key} = {_value(leaf, source)}" for key, leaf in leaves.items())
    for key, node in branch.items.items():
        if isinstance(node, Branch):
            yield from _lines(node, f"{name}.{key}" if name else key, source)


def _value(leaf: Leaf, source: str) -> str:
    items = [f"value = {written(leaf.value)}"]
    if leaf.source != source:
        items.append(f"source = {written(leaf.source)}")
    if leaf.interval:
        items.append(f"interval = {written(list(leaf.interval))}")
    return f"{{ {', '.join(items)} }}" if len(items) > 1 else written(leaf.value)
