"""Positions for drawings of a machine's stops, in nested boxes like its tree.

`layout(machine)` returns a point for every stop and a frame for every group, in units of one stop.
A stop's name contains its group ("socket0.die1.x2y3"). A group's own stops are laid out according
to its join (grid, ring as a racetrack, hub), and the parts that are linked to a stop are placed
below it. `tiles(machine)` returns the floorplan by which wiring.py measures lengths: without room
between parts, with each stop in the middle of the parts that are linked to it, and with groups as
square as possible. A core is one tile, and so is a stop to which no part is linked. No engine uses
these positions.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from itertools import pairwise
from math import ceil, sqrt

from uncore.topology.machine import Machine

GAP = 1.0
GRID = re.compile(r"x(\d+)y(\d+)(?:z(\d+))?")
HUB = re.compile(r"\bhub\d+$")
QUADRANT = re.compile(r"q([0-3])")
Point = tuple[float, float]


@dataclass
class Box:
    width: float = 1.0
    height: float = 1.0
    points: dict[str, Point] = field(default_factory=dict)  # y grows downwards
    frames: list[tuple[str, Point, Point]] = field(default_factory=list)  # label, corner, size

    def take(self, other: Box, x: float, y: float) -> None:
        for name, (px, py) in other.points.items():
            self.points[name] = (x + px, y + py)
        for label, (fx, fy), size in other.frames:
            self.frames.append((label, (x + fx, y + fy), size))
        self.width, self.height = (
            max(self.width, x + other.width),
            max(self.height, y + other.height),
        )


@dataclass
class _GroupBox:
    path: str
    own: list[str] = field(default_factory=list)  # names of stops
    parts: dict[str, _GroupBox] = field(default_factory=dict)


@dataclass(frozen=True)
class _Style:
    beside: dict[str, set[str]]  # stop -> the stops to which it is linked
    tiled: bool

    @property
    def gap(self) -> float:
        return 0.0 if self.tiled else GAP


def layout(machine: Machine) -> Box:
    return _layout(machine, tiled=False)


def tiles(machine: Machine) -> Box:
    return _layout(machine, tiled=True)


def _layout(machine: Machine, tiled: bool) -> Box:
    root = _GroupBox("")
    for stop in machine.stops:
        _insert(root, stop, set(machine.levels))
    beside: dict[str, set[str]] = {stop: set() for stop in machine.stops}
    for link in machine.links:
        beside[machine.stops[link.source]].add(machine.stops[link.target])
    return _box(root, _Style(beside, tiled))


def _insert(root: _GroupBox, stop: str, levels: set[str]) -> None:
    """Adds a stop to its group. The leading parts of its name that have the name of a level are the
    groups.
    """
    group = root
    for word in stop.split("."):
        if re.sub(r"\d+$", "", word) not in levels:
            break
        path = f"{group.path}.{word}" if group.path else word
        group = group.parts.setdefault(word, _GroupBox(path))
    group.own.append(stop)


def _box(group: _GroupBox, how: _Style) -> Box:
    if not group.parts and len(group.own) == 1:
        return Box(1, 1, {group.own[0]: (0.5, 0.5)})
    hung = _parts_by_stop(group, how.beside)
    if len(group.own) > 1 and all(HUB.search(stop) for stop in group.own):
        inner = _tree(group.own, [_box(part, how) for part in group.parts.values()], how)
    else:
        cells = [(stop, _cell(stop, hung.get(stop, []), how)) for stop in group.own]
        free = [_box(part, how) for part in hung.get("", [])]
        inner = _arranged(cells, free, how)
    box, edge = Box(0, 0), how.gap / 2
    box.take(inner, edge, edge + (how.gap / 2 if group.path else 0))
    box.width, box.height = box.width + edge, box.height + edge
    if group.path:
        box.frames.append((group.path.split(".")[-1], (0, 0), (box.width, box.height)))
    return box


def _parts_by_stop(group: _GroupBox, beside: dict[str, set[str]]) -> dict[str, list[_GroupBox]]:
    """Groups the parts by the first own stop to which they are linked; "" has those linked to
    none.
    """
    hung: dict[str, list[_GroupBox]] = {}
    for part in group.parts.values():
        near = {n for stop in _stops(part) for n in beside[stop]}
        hung.setdefault(next((s for s in group.own if s in near), ""), []).append(part)
    return hung


def _stops(group: _GroupBox) -> list[str]:
    return group.own + [stop for part in group.parts.values() for stop in _stops(part)]


def _cell(stop: str, parts: list[_GroupBox], how: _Style) -> Box:
    """Places a stop above the parts that are linked to it, or for tiles in the middle of them."""
    own = Box(1, 1, {stop: (0.5, 0.5)})
    below = _rows([_box(part, how) for part in parts], how)
    if how.tiled and parts:
        return _within([stop], below)
    return _above(own, below)


def _within(stops: list[str], box: Box) -> Box:
    """Returns the box with these stops added in its middle."""
    return replace(box, points=box.points | dict.fromkeys(stops, (box.width / 2, box.height / 2)))


def _above(top: Box, below: Box) -> Box:
    both = Box(1, 1)
    both.take(top, max(0, (below.width - top.width) / 2), 0)
    both.take(below, 0, top.height)
    return both


def _tree(hubs: list[str], parts: list[Box], how: _Style) -> Box:
    """Places hubs in a row above all parts, with room for the links between them."""
    if how.tiled:
        return _within(hubs, _rows(parts, how))
    below = _grid(list(enumerate(parts)), len(parts), how)
    apart = below.width / len(hubs)
    row = {hub: ((number + 0.5) * apart, 0.5) for number, hub in enumerate(hubs)}
    return _above(Box(below.width, 1 + apart, row), below)


def _upside_down(box: Box, height: float) -> Box:
    points = {name: (x, height - y) for name, (x, y) in box.points.items()}
    frames = [(label, (x, height - y - h), (w, h)) for label, (x, y), (w, h) in box.frames]
    return Box(box.width, height, points, frames)


def _rows(boxes: list[Box], how: _Style) -> Box:
    """Places boxes in rows of equal length, if possible. The result is a little wider than high, or
    for tiles as square as possible.
    """
    numbered = list(enumerate(boxes))
    full = [n for n in range(1, len(boxes) + 1) if len(boxes) % n == 0]
    if how.tiled and boxes:
        return _squarest(_grid(numbered, columns, how) for columns in full)
    ideal = sqrt(1.8 * len(boxes))
    near = [n for n in full if ideal / 2 < n < 2 * ideal]
    columns = min(near, key=lambda n: abs(n - ideal)) if near else max(1, ceil(ideal))
    return _grid(numbered, columns, how)


def _squarest(boxes: Iterable[Box]) -> Box:
    return min(boxes, key=lambda box: max(box.width, box.height))


def _grid(numbered: list[tuple[int, Box]], columns: int, how: _Style) -> Box:
    widths, heights = [0.0] * columns, [0.0] * (1 + max((n for n, _ in numbered), default=0))
    for number, box in numbered:
        x, y = number % columns, number // columns
        widths[x], heights[y] = max(widths[x], box.width), max(heights[y], box.height)
    all_ = Box(0, 0)
    for number, box in numbered:
        x, y = number % columns, number // columns
        all_.take(box, sum(widths[:x]) + how.gap / 2 * x, sum(heights[:y]) + how.gap / 2 * y)
    return all_


def _arranged(cells: list[tuple[str, Box]], free: list[Box], how: _Style) -> Box:
    """Arranges stops as their names tell: as a grid, as a racetrack for each ring, or as a hub
    above the other stops.
    """
    boxes = [cell for _, cell in cells]
    spots = [spot for stop, _ in cells if (spot := _spot(stop))]
    if cells and len(spots) == len(cells):
        width, _, layers = (1 + max(spot[axis] for spot in spots) for axis in range(3))
        # layers are side by side, with an empty column between two
        columns = layers * (width + 1) - 1
        places = (x + z * (width + 1) + columns * y for x, y, z in spots)
        return _grid(list(zip(places, boxes, strict=True)), columns, how)
    if cells and re.search(r"\bs\d+$", cells[0][0]):
        tracks = [_racetrack([box for _, box in ring], how) for ring in _rings(cells, how.beside)]
        return _grid(list(enumerate(tracks)), 1, how)
    if len(cells) > 1 and cells[0][0].endswith("bus"):
        return _above(
            boxes[0], _grid(list(enumerate(boxes[1:] + free)), min(len(cells), 17) - 1, how)
        )
    return _rows(boxes + free, how)


def _rings(
    cells: list[tuple[str, Box]], beside: dict[str, set[str]]
) -> list[list[tuple[str, Box]]]:
    """Divides stops into rings. A stop that is not linked to the one before it begins another
    ring.
    """
    rings = [[cells[0]]]
    for before, cell in pairwise(cells):
        if cell[0] in beside[before[0]]:
            rings[-1].append(cell)
        else:
            rings.append([cell])
    return rings


def _spot(stop: str) -> tuple[int, int, int] | None:
    name = stop.split(".")[-1]
    if match := GRID.fullmatch(name):
        return int(match[1]), int(match[2]), int(match[3] or 0)
    if match := QUADRANT.fullmatch(name):
        return int(match[1]) % 2, int(match[1]) // 2, 0
    return None


def _racetrack(boxes: list[Box], how: _Style) -> Box:
    """Lays out a ring: the first half from left to right, the second half below it from right to
    left.

    Parts that are linked to a stop are outside the ring. For tiles the ring may be turned by 90
    degrees.
    """
    half = ceil(len(boxes) / 2)
    if not how.tiled:
        high = max(box.height for box in boxes[:half])
        boxes = [*(_upside_down(box, high) for box in boxes[:half]), *boxes[half:]]
    lanes = [(i, 0) if i < half else (2 * half - 1 - i, 1) for i in range(len(boxes))]
    lying = [(x + y * half, box) for (x, y), box in zip(lanes, boxes, strict=True)]
    if not how.tiled:
        return _grid(lying, half, how)
    on_end = [(y + 2 * x, box) for (x, y), box in zip(lanes, boxes, strict=True)]
    return _squarest((_grid(lying, half, how), _grid(on_end, 2, how)))
