"""Lays out a table in a given width: decides which columns are side by side, and their widths.

    laid_out(columns, lines, width, wide) -> TableLayout

Columns are in the order of their importance.  Columns that do not fit beside the others form a
block below, which begins with the key columns again.  A group is always a block of its own.  Minor
columns that do not fit are left out.  `wide` puts all columns side by side.

Invariant: no number is cut or folded; texts and heads are folded between words only.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

GAP_BLANKS = 2  # blanks between columns
MIN_TEXT_WIDTH = 24  # texts are not folded to less than this width


class HeadedColumn(Protocol):
    """The properties of a Column (table.py) that the layout needs."""

    @property
    def head(self) -> str: ...
    @property
    def left(self) -> bool: ...
    @property
    def group(self) -> str: ...
    @property
    def key(self) -> bool: ...
    @property
    def minor(self) -> bool: ...


@dataclass
class PlacedColumn:
    """A column in the layout, with its width in characters."""

    index: int
    width: int
    wanted: int  # width without any folding


@dataclass
class Block:
    group: str
    placed: list[PlacedColumn]


@dataclass
class TableLayout:
    blocks: list[Block] = field(default_factory=list)
    left_out: list[int] = field(default_factory=list)


def laid_out(
    columns: Sequence[HeadedColumn], lines: Sequence[Sequence[str]], width: int, wide: bool
) -> TableLayout:
    sized = [
        _at_smallest_width(n, column, [line[n] for line in lines])
        for n, column in enumerate(columns)
    ]
    keys = [p for p, column in zip(sized, columns, strict=True) if column.key] or sized[:1]
    others = [p for p in sized if p not in keys]
    if wide:
        everything = [*keys, *others]
        return TableLayout([Block("", [_at_full_width(p) for p in everything])])
    layout = TableLayout()
    for group in dict.fromkeys(columns[p.index].group for p in others) or [""]:
        members = [p for p in others if columns[p.index].group == group]
        minor = [p for p in members if columns[p.index].minor]
        while minor and _width([*keys, *members]) > width:
            members.remove(minor[-1])
            layout.left_out.append(minor.pop().index)
        layout.blocks += [Block(group, block) for block in _split_into_blocks(keys, members, width)]
    layout.left_out.sort()
    return layout


def _at_smallest_width(index: int, column: HeadedColumn, cells: Sequence[str]) -> PlacedColumn:
    """Returns a column with the smallest width that its words and numbers allow."""
    widest = max(map(len, cells), default=0)
    if column.left:
        widest = min(widest, max(MIN_TEXT_WIDTH, _longest_word(cells)))
    width = max(_longest_word([column.head]), widest)
    return PlacedColumn(index, width, max(len(column.head), *map(len, cells), width))


def _longest_word(texts: Iterable[str]) -> int:
    return max((len(word) for text in texts for word in text.split()), default=0)


def _at_full_width(placed: PlacedColumn) -> PlacedColumn:
    return PlacedColumn(placed.index, placed.wanted, placed.wanted)


def _width(placed: Sequence[PlacedColumn]) -> int:
    return sum(column.width for column in placed) + GAP_BLANKS * (len(placed) - 1)


def _split_into_blocks(
    keys: Sequence[PlacedColumn], members: Sequence[PlacedColumn], width: int
) -> list[list[PlacedColumn]]:
    """Divides columns into blocks of at most this width, unless a single column is wider."""
    blocks = [[*keys]]
    for column in members:
        if len(blocks[-1]) > len(keys) and _width([*blocks[-1], column]) > width:
            blocks.append([*keys])
        blocks[-1].append(column)
    return [_widened(block, width) for block in blocks]


def _widened(block: Sequence[PlacedColumn], width: int) -> list[PlacedColumn]:
    """Widens columns by the width that the block leaves free, first those that need least."""
    spare_width = width - _width(block)
    extra_width: dict[int, int] = {}
    for column in sorted(block, key=lambda column: column.wanted - column.width):
        extra_width[column.index] = max(0, min(spare_width, column.wanted - column.width))
        spare_width -= extra_width[column.index]
    return [PlacedColumn(p.index, p.width + extra_width[p.index], p.wanted) for p in block]
