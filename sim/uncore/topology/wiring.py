"""Measures the wires of a machine: number, width and length of links, and bisection bandwidth.

    wires(machine)             for each level and width: links, width, length, wire
    formula_values(machine)    values by names in formulas: {"ccx.wire": 5.1e4, "bisection": 512}
    bisection(machine)         GB/s from one half of the cores to the other; None: no limit

A link is one direction of a wire, or a channel that several links share, such as a bus. Its length
is half the perimeter of the rectangle around its stops in the floorplan of `layout.tiles`, in which
a core is one tile wide. `wire` is width times length, which at a given clock is proportional to the
required metal. A link without a width has no `wire`. The bisection is the smallest bandwidth
between two halves of the cores. Three ways to halve them are tried: by number, left and right,
above and below.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import fsum

from uncore.topology.layout import Point, tiles
from uncore.topology.machine import Machine
from uncore.topology.schema import DEFAULT_LINE_BYTES
from uncore.topology.units import size

PS_PER_NS = 1000
MAX_WIDTH_DIGITS = 6  # maximum number of decimals of a width
MAX_CAPACITY = 1 << 20  # sum of all links' capacities, in units of the flow
# capacity of a link without a limit, which exceeds the sum of all limited links
UNBOUNDED_CAPACITY = 2 * MAX_CAPACITY


@dataclass(frozen=True)
class Wires:
    """The links of a level that have the same width."""

    level: str
    links: int
    width: float | None  # GB/s of a link; None: no limit
    length: float  # sum over the links, in tiles

    @property
    def wire(self) -> float | None:
        return None if self.width is None else self.width * self.length


@dataclass(frozen=True)
class _Channel:
    level: str
    width: float | None
    ends: tuple[tuple[int, int], ...]  # source and target stop of each link on the channel

    def length(self, points: Sequence[Point]) -> float:
        spots = [points[stop] for end in self.ends for stop in end]
        return fsum(max(coordinates) - min(coordinates) for coordinates in zip(*spots, strict=True))


def wires(machine: Machine) -> list[Wires]:
    """Returns the wires by level, the outermost level first. Within a level, the widest links are
    first, and links without a width last.
    """
    points = _points(machine)
    lengths: dict[tuple[str, float | None], list[float]] = defaultdict(list)
    for channel in _channels(machine):
        lengths[channel.level, channel.width].append(channel.length(points))
    order = sorted(lengths, key=lambda k: (machine.levels.index(k[0]), -(k[1] or 0)))
    return [
        Wires(level, len(lengths[level, width]), width, fsum(lengths[level, width]))
        for level, width in order
    ]


def formula_values(machine: Machine) -> dict[str, float]:
    """Returns sums over the links that have a width, for each level and in total.

    `LEVEL.width` is the width of the level's widest link; `bisection` is present if it has a limit.
    """
    totals = {"links": 0.0, "length": 0.0, "wire": 0.0}
    sums: dict[str, float] = {}
    for row in wires(machine):
        if row.width is None or row.wire is None:
            continue
        sums.setdefault(f"{row.level}.width", row.width)
        for name, value in (("links", row.links), ("length", row.length), ("wire", row.wire)):
            totals[name] += value
            sums[f"{row.level}.{name}"] = sums.get(f"{row.level}.{name}", 0.0) + value
    width_gb_per_s = bisection(machine)
    return sums | totals | ({} if width_gb_per_s is None else {"bisection": width_gb_per_s})


def bisection(machine: Machine) -> float | None:
    if len(set(machine.core_stops)) < 2:
        return 0.0
    channels = _channels(machine)
    widths = [_narrowest_cut(machine, channels, half) for half in _halves(machine)]
    return min((width for width in widths if width is not None), default=None)


def _halves(machine: Machine) -> Iterator[list[int]]:
    """Yields, for each way to halve the cores, the stops of one half. All cores at a stop are in
    one half.
    """
    points = _points(machine)
    stops = list(dict.fromkeys(machine.core_stops))
    for coordinates in (stops.index, points.__getitem__, lambda stop: points[stop][::-1]):
        yield sorted(stops, key=coordinates)[: len(stops) // 2]


def _narrowest_cut(
    machine: Machine, channels: Sequence[_Channel], half: Sequence[int]
) -> float | None:
    """Returns the width in GB/s of the narrowest cut between one half of the cores and the other
    half; None: no limit.

    The cut is found by maximum flow. In its graph, the core stops of one half are node 0, those of
    the other half node 1, and every channel is two nodes with an edge of its width between them.
    The flow needs integer capacities and only chooses the cut; the exact widths are added up.
    """
    import numpy as np  # noqa: PLC0415 (slow to load)
    from scipy.sparse import coo_array, csgraph  # noqa: PLC0415 (slow to load)

    node = {stop: 1 for stop in machine.core_stops} | dict.fromkeys(half, 0)
    for stop in range(len(machine.stops)):
        node.setdefault(stop, len(machine.stops) + stop)
    widths = [channel.width for channel in channels]
    unit = sum(width for width in widths if width) / MAX_CAPACITY or 1.0
    edges: list[tuple[int, int, int]] = []
    for number, channel in enumerate(channels):
        entry_node = 2 * (len(machine.stops) + number)
        capacity = max(round(channel.width / unit), 1) if channel.width else UNBOUNDED_CAPACITY
        edges.append((entry_node, entry_node + 1, capacity))
        for source, target in channel.ends:
            edges += [
                (node[source], entry_node, UNBOUNDED_CAPACITY),
                (entry_node + 1, node[target], UNBOUNDED_CAPACITY),
            ]
    rows, columns, capacities = np.array(edges, dtype=np.int32).T
    node_count = 2 * (len(machine.stops) + len(channels))
    graph = coo_array((capacities, (rows, columns)), shape=(node_count, node_count)).tocsr()
    residual = graph - csgraph.maximum_flow(graph, 0, 1).flow
    reached = set(csgraph.breadth_first_order(residual > 0, 0, return_predecessors=False).tolist())
    cut = [
        width
        for number, width in enumerate(widths)
        if (entry_node := 2 * (len(machine.stops) + number)) in reached
        and entry_node + 1 not in reached
    ]
    return None if 1 in reached or None in cut else fsum(width for width in cut if width)


def _points(machine: Machine) -> list[Point]:
    points = tiles(machine).points
    return [points[stop] for stop in machine.stops]


def _channels(machine: Machine) -> list[_Channel]:
    data = _bytes_of_data(machine)
    ends: dict[tuple[str, float | None, int], list[tuple[int, int]]] = defaultdict(list)
    for number, link in enumerate(machine.links):
        width = _width(data, link.data_busy) if link.data_busy else None
        medium = link.channel if link.channel >= 0 else -1 - number
        ends[link.level, width, medium].append((link.source, link.target))
    return [
        _Channel(level, width, tuple(channel_ends))
        for (level, width, _), channel_ends in ends.items()
    ]


def _bytes_of_data(machine: Machine) -> int:
    data_size_text = next(
        number.text for number in machine.numbers if number.key == "messages.data"
    )
    return size(data_size_text) + machine.line - DEFAULT_LINE_BYTES


def _width(data: int, busy: int) -> float:
    """Returns the width in GB/s of a link that a message of `data` bytes occupies for `busy` ps,
    with the fewest decimals that give this time.
    """
    low, high = data * PS_PER_NS / (busy + 0.5), data * PS_PER_NS / (busy - 0.5)
    middle = data * PS_PER_NS / busy
    for digits in range(MAX_WIDTH_DIGITS):
        if low <= (width := round(middle, digits)) <= high:
            return width
    return middle
