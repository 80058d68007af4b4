"""Computes positions for drawings of a machine's stops, in nested boxes like its tree.

`layout(machine)` returns a point for every stop and a frame for every group, in units of one stop.
A stop's name contains its group ("socket0.die1.x2y3"). A group's own stops are laid out according
to its join (grid, ring as a racetrack, hub), and the parts that are linked to a stop are placed
below it. `tiles(machine)` returns the floorplan by which wiring.py measures lengths. In it, there
is no space between parts, each stop is in the middle of the parts that are linked to it, and groups
are as square as possible. A core is one tile, and so is a stop to which no part is linked. No
engine uses these positions.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from itertools import pairwise
from math import ceil, sqrt

from uncore.topology.machine import Machine

GAP = 1.0
GRID_PATTERN = re.compile(r"x(\d+)y(\d+)(?:z(\d+))?")
HUB_PATTERN = re.compile(r"\bhub\d+$")
QUADRANT_PATTERN = re.compile(r"q([0-3])")
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
    own_stops: list[str] = field(default_factory=list)  # names of stops
    parts: dict[str, _GroupBox] = field(default_factory=dict)


@dataclass(frozen=True)
class _LayoutContext:
    neighbours: dict[str, set[str]]  # stop -> the stops to which it is linked
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
        _insert_stop(root, stop, set(machine.levels))
    neighbours: dict[str, set[str]] = {stop: set() for stop in machine.stops}
    for link in machine.links:
        neighbours[machine.stops[link.source]].add(machine.stops[link.target])
    return _box(root, _LayoutContext(neighbours, tiled))


def _insert_stop(root: _GroupBox, stop: str, levels: set[str]) -> None:
    """Adds a stop to its group. The groups are the leading parts of the stop's name that are named
    after a level.
    """
    group = root
    for word in stop.split("."):
        if re.sub(r"\d+$", "", word) not in levels:
            break
        path = f"{group.path}.{word}" if group.path else word
        group = group.parts.setdefault(word, _GroupBox(path))
    group.own_stops.append(stop)


def _box(group: _GroupBox, context: _LayoutContext) -> Box:
    if not group.parts and len(group.own_stops) == 1:
        return Box(1, 1, {group.own_stops[0]: (0.5, 0.5)})
    parts_of_stop = _parts_by_stop(group, context.neighbours)
    if len(group.own_stops) > 1 and all(HUB_PATTERN.search(stop) for stop in group.own_stops):
        inner = _tree(
            group.own_stops, [_box(part, context) for part in group.parts.values()], context
        )
    else:
        cells = [
            (stop, _cell(stop, parts_of_stop.get(stop, []), context)) for stop in group.own_stops
        ]
        free = [_box(part, context) for part in parts_of_stop.get("", [])]
        inner = _arranged(cells, free, context)
    box, edge = Box(0, 0), context.gap / 2
    box.take(inner, edge, edge + (context.gap / 2 if group.path else 0))
    box.width, box.height = box.width + edge, box.height + edge
    if group.path:
        box.frames.append((group.path.split(".")[-1], (0, 0), (box.width, box.height)))
    return box


def _parts_by_stop(group: _GroupBox, neighbours: dict[str, set[str]]) -> dict[str, list[_GroupBox]]:
    """Groups the parts by the first stop of the group to which they are linked; "" has the parts
    that are linked to none.
    """
    parts_of_stop: dict[str, list[_GroupBox]] = {}
    for part in group.parts.values():
        linked_stops = {n for stop in _stops(part) for n in neighbours[stop]}
        parts_of_stop.setdefault(
            next((s for s in group.own_stops if s in linked_stops), ""), []
        ).append(part)
    return parts_of_stop


def _stops(group: _GroupBox) -> list[str]:
    return group.own_stops + [stop for part in group.parts.values() for stop in _stops(part)]


def _cell(stop: str, parts: list[_GroupBox], context: _LayoutContext) -> Box:
    """Places a stop above the parts that are linked to it, or for tiles in the middle of them."""
    stop_box = Box(1, 1, {stop: (0.5, 0.5)})
    below = _rows([_box(part, context) for part in parts], context)
    if context.tiled and parts:
        return _with_stops_inside([stop], below)
    return _stacked(stop_box, below)


def _with_stops_inside(stops: list[str], box: Box) -> Box:
    """Returns the box with these stops added in its middle."""
    return replace(box, points=box.points | dict.fromkeys(stops, (box.width / 2, box.height / 2)))


def _stacked(top: Box, below: Box) -> Box:
    stacked = Box(1, 1)
    stacked.take(top, max(0, (below.width - top.width) / 2), 0)
    stacked.take(below, 0, top.height)
    return stacked


def _tree(hubs: list[str], parts: list[Box], context: _LayoutContext) -> Box:
    """Places hubs in a row above all parts, with space for the links between them."""
    if context.tiled:
        return _with_stops_inside(hubs, _rows(parts, context))
    below = _grid(list(enumerate(parts)), len(parts), context)
    hub_spacing = below.width / len(hubs)
    row = {hub: ((number + 0.5) * hub_spacing, 0.5) for number, hub in enumerate(hubs)}
    return _stacked(Box(below.width, 1 + hub_spacing, row), below)


def _upside_down(box: Box, height: float) -> Box:
    points = {name: (x, height - y) for name, (x, y) in box.points.items()}
    frames = [(label, (x, height - y - h), (w, h)) for label, (x, y), (w, h) in box.frames]
    return Box(box.width, height, points, frames)


def _rows(boxes: list[Box], context: _LayoutContext) -> Box:
    """Places boxes in rows, of equal length if possible. The result is slightly wider than high, or
    for tiles as square as possible.
    """
    numbered = list(enumerate(boxes))
    full = [n for n in range(1, len(boxes) + 1) if len(boxes) % n == 0]
    if context.tiled and boxes:
        return _squarest_box(_grid(numbered, columns, context) for columns in full)
    ideal = sqrt(1.8 * len(boxes))
    candidates = [n for n in full if ideal / 2 < n < 2 * ideal]
    columns = min(candidates, key=lambda n: abs(n - ideal)) if candidates else max(1, ceil(ideal))
    return _grid(numbered, columns, context)


def _squarest_box(boxes: Iterable[Box]) -> Box:
    return min(boxes, key=lambda box: max(box.width, box.height))


def _grid(numbered: list[tuple[int, Box]], columns: int, context: _LayoutContext) -> Box:
    widths, heights = [0.0] * columns, [0.0] * (1 + max((n for n, _ in numbered), default=0))
    for number, box in numbered:
        x, y = number % columns, number // columns
        widths[x], heights[y] = max(widths[x], box.width), max(heights[y], box.height)
    grid = Box(0, 0)
    for number, box in numbered:
        x, y = number % columns, number // columns
        grid.take(
            box, sum(widths[:x]) + context.gap / 2 * x, sum(heights[:y]) + context.gap / 2 * y
        )
    return grid


def _arranged(cells: list[tuple[str, Box]], free: list[Box], context: _LayoutContext) -> Box:
    """Arranges stops by their names: as a grid, as a racetrack for each ring, or as a hub above the
    other stops.
    """
    boxes = [cell for _, cell in cells]
    spots = [spot for stop, _ in cells if (spot := _spot(stop))]
    if cells and len(spots) == len(cells):
        width, _, layers = (1 + max(spot[axis] for spot in spots) for axis in range(3))
        # layers are side by side, with an empty column between two
        columns = layers * (width + 1) - 1
        places = (x + z * (width + 1) + columns * y for x, y, z in spots)
        return _grid(list(zip(places, boxes, strict=True)), columns, context)
    if cells and re.search(r"\bs\d+$", cells[0][0]):
        tracks = [
            _racetrack([box for _, box in ring], context)
            for ring in _rings(cells, context.neighbours)
        ]
        return _grid(list(enumerate(tracks)), 1, context)
    if len(cells) > 1 and cells[0][0].endswith("bus"):
        return _stacked(
            boxes[0], _grid(list(enumerate(boxes[1:] + free)), min(len(cells), 17) - 1, context)
        )
    return _rows(boxes + free, context)


def _rings(
    cells: list[tuple[str, Box]], neighbours: dict[str, set[str]]
) -> list[list[tuple[str, Box]]]:
    """Divides stops into rings. A stop that is not linked to the one before it begins another
    ring.
    """
    rings = [[cells[0]]]
    for previous, cell in pairwise(cells):
        if cell[0] in neighbours[previous[0]]:
            rings[-1].append(cell)
        else:
            rings.append([cell])
    return rings


def _spot(stop: str) -> tuple[int, int, int] | None:
    name = stop.split(".")[-1]
    if match := GRID_PATTERN.fullmatch(name):
        return int(match[1]), int(match[2]), int(match[3] or 0)
    if match := QUADRANT_PATTERN.fullmatch(name):
        return int(match[1]) % 2, int(match[1]) // 2, 0
    return None


def _racetrack(boxes: list[Box], context: _LayoutContext) -> Box:
    """Lays out a ring: the first half from left to right, the second half below it from right to
    left.

    Parts that are linked to a stop are outside the ring. For tiles the ring may be turned by 90
    degrees.
    """
    half = ceil(len(boxes) / 2)
    if not context.tiled:
        high = max(box.height for box in boxes[:half])
        boxes = [*(_upside_down(box, high) for box in boxes[:half]), *boxes[half:]]
    lanes = [(i, 0) if i < half else (2 * half - 1 - i, 1) for i in range(len(boxes))]
    horizontal = [(x + y * half, box) for (x, y), box in zip(lanes, boxes, strict=True)]
    if not context.tiled:
        return _grid(horizontal, half, context)
    vertical = [(y + 2 * x, box) for (x, y), box in zip(lanes, boxes, strict=True)]
    return _squarest_box((_grid(horizontal, half, context), _grid(vertical, 2, context)))
