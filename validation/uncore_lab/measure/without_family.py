"""Writes tables of a machine file for a computer that fits no family: joins, shared caches, memory.

    tables(computer, layout) -> FileTables  TOML of each table, and notes for the head of the file

Latencies are estimates, in the range of such levels on measured machines.  If the computer reports
the distances of its memory nodes, the latencies of the joins between nodes are fitted to these
distances by least squares.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from uncore.host.computer import Cache, Computer
from uncore_lab.measure.cpu_tree import ComputerLayout

RESOLVER_TABLE = """\
[{level}.resolver]
source  = "estimate"
knows   = "{knows}"
at      = "{at}"
reply   = "via"
unblock = "response"
service = "4cy"
grants  = 4"""

JOIN_TABLE = """\
[{level}.join]
kind    = "{kind}"
latency = {{ value = "{latency}", source = "{source}" }}
width   = {{ value = "32B/cy", source = "estimate" }}"""

# latency of one crossing of a level's join
JOIN_LATENCIES = {
    "cluster": "20cy",
    "ccx": "40cy",
    "die": "40ns",
    "socket": "40ns",
    "system": "60ns",
}
# joins of other levels around the last cache, and of memory nodes inside it
OTHER_JOIN_LATENCY, INNER_NODE_LATENCY = "40ns", "8cy"
# latency of the last cache, by the largest number of cores that share it
LAST_CACHE = {8: "40cy", 1 << 30: "60cy"}
LOCAL_READ_NS = 90  # time of reading a node's own memory, to which distances are relative
# latency of memory in the package; also of DRAM for which such memory is the cache
NEAR_MEMORY = "60ns"
MAX_WIRED_PAIRS = 64  # at most this many pairs of members get a wire of their own


@dataclass(frozen=True)
class FileTables:
    parts: tuple[str, ...]
    notes: tuple[str, ...]


def tables(computer: Computer, layout: ComputerLayout) -> FileTables:
    latencies, notes = node_join_latencies(computer, layout)
    parts = [*_shared_caches(layout), *_joins(layout, latencies), _memory(layout)]
    return FileTables(tuple(parts), tuple(notes))


def size(cache: Cache) -> list[str]:
    """Returns the size and the ways as TOML lines. If the computer does not report the ways, there
    are 8, or the next smaller number that divides the size.
    """
    ways = cache.ways or 8
    while cache.size % (cache.line * ways):
        ways -= 1
    kib, spare_bytes = divmod(cache.size, 1024)
    return [f'size = "{cache.size}B"' if spare_bytes else f'size = "{kib}KiB"', f"ways = {ways}"]


def last_caches(layout: ComputerLayout, whole: bool) -> Iterator[str]:
    """Yields tables of the third-level caches. Keys that other kinds inherit are written once."""
    first_keys = ['policy = "victim"', 'latency = { value = "10cy", source = "estimate" }']
    for cache in layout.last:
        with_first_keys = whole and (not cache.kind or layout.last[0].kind)
        yield "\n".join(
            [f"[{cache.table}.data]", *size(cache.cache), *(first_keys if with_first_keys else [])]
        )
        if with_first_keys:
            yield RESOLVER_TABLE.format(level=cache.table, knows="shadow-tags", at="slices")


def _shared_caches(layout: ComputerLayout) -> Iterator[str]:
    for cache in layout.second:
        yield _join(cache.table, "crossbar", JOIN_LATENCIES["cluster"])
        lines = [f"[{cache.table}.data]", 'policy = "inclusive"', *size(cache.cache)]
        yield "\n".join([*lines, 'latency = { value = "14cy", source = "estimate" }'])
        yield RESOLVER_TABLE.format(level=cache.table, knows="inclusive", at="hub")
    if layout.shared not in {cache.level for cache in layout.second if not cache.kind}:
        sharers = layout.max_members(layout.shared)
        latency = next(cost for max_sharers, cost in LAST_CACHE.items() if sharers <= max_sharers)
        yield _join(layout.shared, "crossbar", latency)
    yield from last_caches(layout, True)


def _joins(layout: ComputerLayout, node_latencies: dict[str, tuple[str, str]]) -> Iterator[str]:
    """Yields the joins of the levels outside of `layout.shared`, and that of the memory nodes'
    level if it is inside.
    """
    if layout.node != "system" and layout.node not in (*layout.outside, layout.shared):
        yield _join(layout.node, "crossbar", INNER_NODE_LATENCY)
    for level in layout.outside:
        if (members := layout.max_members(level)) > 1 or level == layout.node != "system":
            kind = "all-to-all" if level == "system" and members <= MAX_WIRED_PAIRS else "crossbar"
            latency, source = node_latencies.get(
                level, (JOIN_LATENCIES.get(level, OTHER_JOIN_LATENCY), "estimate")
            )
            yield _join(level, kind, latency, source)


def _join(level: str, kind: str, latency: str, source: str = "estimate") -> str:
    return JOIN_TABLE.format(level=level, kind=kind, latency=latency, source=source)


def _memory(layout: ComputerLayout) -> str:
    lines = ["[memory]", f'node = "{layout.node}"']
    if layout.nodeless:
        depth = layout.levels.index(layout.node) + 1
        groups = len({key[:depth] for key, _ in layout.cores})
        rich = [str(g) for g in range(groups) if g not in layout.nodeless]
        lines.append(f'groups = "{" ".join(rich)}"')
    return "\n".join(lines)


def memory_cache(computer: Computer) -> FileTables:
    """Describes the memory-side cache, if all nodes have the same one."""
    caches = {
        node.cache and (node.cache.size, node.cache.ways) for node in computer.nodes if node.cpus
    }
    if not any(caches):
        return FileTables((), ())
    if len(caches) > 1:
        return FileTables((), ("memory-side caches differ from node to node: left out",))
    bytes_, ways = next(size_and_ways for size_and_ways in caches if size_and_ways)
    cache = Cache(0, bytes_, ways or 1, (), computer.line)
    latency = f'latency = {{ value = "{NEAR_MEMORY}", source = "estimate" }}'
    return FileTables(("\n".join(["[memory.cache]", *size(cache), latency]),), ())


# ---- Distances of memory nodes ------------------------------------------------------------------


def node_join_latencies(
    computer: Computer, layout: ComputerLayout
) -> tuple[dict[str, tuple[str, str]], list[str]]:
    """Returns the latency and source of each join between nodes, and notes about them."""
    reported = computer.distances
    if reported is None:
        return {}, []
    groups = _groups_of_nodes(computer, layout)
    if groups is None or set(reported.nodes) != set(groups) or len(groups) < 2:
        return {}, ["the distances of memory nodes fit no level of the tree: unused"]
    levels_around = ("system", *layout.levels[: layout.levels.index(layout.node)])
    joined = [depth for depth, level in enumerate(levels_around) if layout.max_members(level) > 1]
    values = np.array(reported.values, float).reshape(len(reported.nodes), -1)
    local_ns = values.diagonal()
    if local_ns.min() <= 0:
        return {}, ["the distances of memory nodes say nothing of their own: unused"]
    times = values if reported.ns else values / local_ns.mean() * LOCAL_READ_NS
    rows, wanted_ns, weights = [], [], []
    for a, first in enumerate(reported.nodes):
        for b, second in enumerate(reported.nodes):
            common = _common_depth(groups[first], groups[second])
            if a != b:
                rows.append([2 * (depth >= common) for depth in joined])
                wanted_ns.append(times[a, b] - (times[a, a] + times[b, b]) / 2)
                weights.append(times[a, b])
    solved = np.maximum(np.linalg.lstsq(np.array(rows), np.array(wanted_ns), rcond=None)[0], 1)
    error = max(abs(np.array(rows) @ solved - wanted_ns) / weights)
    source = "least squares of the distances of memory nodes"
    names = [levels_around[depth] for depth in joined]
    return {name: (f"{x:.4g}ns", source) for name, x in zip(names, solved, strict=True)}, [
        f"joins of {', '.join(names)}: {source}, off by {100 * error:.0f} % at most"
        + ("" if reported.ns else f"; a node's own memory is taken to be {LOCAL_READ_NS} ns away")
    ]


def _groups_of_nodes(
    computer: Computer, layout: ComputerLayout
) -> dict[int, tuple[int, ...]] | None:
    """Maps each memory node to its place in the tree; None if the nodes form no level of it."""
    if layout.node not in layout.levels:
        return None
    depth = layout.levels.index(layout.node) + 1
    place = {cpu: key[:depth] for key, core in layout.cores for cpu in core}
    return {node.number: place[node.cpus[0]] for node in computer.nodes if node.cpus}


def _common_depth(a: tuple[int, ...], b: tuple[int, ...]) -> int:
    """Returns the depth of the smallest part that contains both places."""
    return next((depth for depth, (x, y) in enumerate(zip(a, b, strict=True)) if x != y), len(a))
