"""Finds which core sits at which stop, from the part of each core in handoffs of a shared cache.

    find(machine, ns) -> CoreOrder, or None if the matrix does not show the order
    renamed(map_text, order) -> the map with its members renamed

Operating systems do not number cores by position, so the order of the members in a machine's `map`
must be found for each machine, together with the slice that owned the measured line.  For every
stop that may own the line, the stops are sorted by the length of their path to the owner and back,
and the cores by their measured parts.  The chosen owner is the one whose sorted path lengths
correlate best with the sorted parts.

Invariant: only the numbers of the members change; the floorplan does not.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from uncore.topology.document import Branch, Leaf
from uncore.topology.load import read
from uncore.topology.machine import Machine
from uncore.topology.route import Routes
from uncore_lab.figures.additive_parts import parts_of, sliced_level
from uncore_lab.figures.hardware import Matrix

MEMBER = re.compile(r"(?<![a-z\d])\d+")


@dataclass(frozen=True)
class CoreOrder:
    """The core for each member of the map, and the core at the slice that owned the line."""

    cores: tuple[int, ...]
    owner: int
    correlation: float  # correlation of the sorted path lengths with the sorted parts


def find(machine: Machine, ns: Matrix) -> CoreOrder | None:
    """Finds the order from the members' parts. The parts are averaged over all groups of the level,
    because all groups have the same floorplan. Returns None if the groups differ in size, or if the
    matrix gives no parts.
    """
    groups = [part.ns for part in parts_of(machine, ns).values()]
    if not groups or len({len(parts) for parts in groups}) > 1:
        return None
    parts = np.mean(groups, axis=0)
    path_times = _path_times(machine, len(parts))
    ranked = np.argsort(parts, kind="stable")
    orders = []
    for times in path_times:  # path lengths from all members to one member's slice
        correlation = float(np.corrcoef(np.sort(times), parts[ranked])[0, 1])
        cores = np.empty(len(parts), dtype=int)
        cores[np.argsort(times, kind="stable")] = ranked
        orders.append(CoreOrder(tuple(map(int, cores)), int(ranked[0]), correlation))
    return max(orders, key=lambda order: order.correlation)


def _path_times(machine: Machine, members: int) -> NDArray[np.float64]:
    """Returns the time in ps of a request from each member to each slice plus the data back, within
    the first resolver of the level.
    """
    routes = Routes(machine)
    resolver = next(
        candidate for candidate in machine.resolvers if candidate.level == sliced_level(machine)
    )
    depth = machine.levels.index(resolver.level) + 1
    member_of_core = np.array([core[depth] for core in machine.shape])
    # the first core of each member
    cores = [int(np.argmax(member_of_core == member)) for member in range(members)]
    stops = [machine.core_stops[core] for core in cores]
    return np.array(
        [
            [routes.message("control", s, o) + routes.message("data", o, s) for s in stops]
            for o in resolver.slices
        ],
        dtype=float,
    )


def map_of(name: str, machine: Machine) -> str:
    """Returns the `map` of the level across whose slices lines are distributed, as written in the
    machine file; "" if the file has none.
    """
    node = read(name)[0].items.get(sliced_level(machine))
    for key in ("join", "map"):
        node = node.items.get(key) if isinstance(node, Branch) else None
    return str(node.value) if isinstance(node, Leaf) else ""


def renamed(map_text: str, order: CoreOrder) -> str:
    """Renames the members of a map and aligns its columns again."""
    text = MEMBER.sub(lambda match: str(order.cores[int(match[0])]), map_text)
    rows = [line.split() for line in text.splitlines() if line.strip()]
    if len(rows) == 1:
        return " ".join(rows[0])
    columns = range(max(map(len, rows)))
    widths = [max(len(row[c]) for row in rows if c < len(row)) for c in columns]
    min_width = max(3, min(widths))
    lines = [
        "    " + " ".join(w.ljust(max(min_width, widths[c])) for c, w in enumerate(row))
        for row in rows
    ]
    return "\n" + "\n".join(line.rstrip() for line in lines) + "\n"
