"""Reads parts of hwloc's XML other than the tree: clocks, groups, distances, and notes.

The interface:

    clocks(root, cpus)          the clock of each processor, in MHz
    groups(root, processors)    groups of processors
    distances(root, nodes)      latencies between memory nodes
    notes(root, line)           sentences about everything that a machine file cannot express
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from xml.etree.ElementTree import Element

from uncore.host.computer import Distances, Group

MEANS_LATENCY = 4  # HWLOC_DISTANCES_KIND_...
DISTANCES_NAME = "uncoreLatency"  # hwloc's name of a distance matrix in ns
# size by cache level, for a computer that does not report it
USUAL_CACHE_BYTES = {1: 32 << 10, 2: 512 << 10, 3: 8 << 20}


def clocks(root: Element, cpus: Callable[[Element], set[int]]) -> dict[int, float]:
    """Returns the clock in MHz of each processor whose kind reports one: the highest clock, or the
    base clock if there is no other.
    """
    mhz: dict[int, float] = {}
    for kind in root.iter("cpukind"):
        info = {info.get("name"): info.get("value", "") for info in kind.iter("info")}
        for name in ("FrequencyMaxMHz", "FrequencyBaseMHz"):
            if re.fullmatch(r"[1-9]\d{0,5}(\.\d{1,6})?", info.get(name, "")):
                mhz |= {cpu: float(info[name]) for cpu in cpus(kind)}
                break
    return mhz


def groups(root: Element, processors: Callable[[Element], Sequence[int]]) -> Iterator[Group]:
    """Yields the groups. A group's level is the number of groups of the same subtype that contain
    it.
    """

    def walk(element: Element, enclosing: tuple[str, ...]) -> Iterator[Group]:
        if element.get("type") == "Group":
            name = re.sub(r"[^a-z0-9]+", "", (element.get("subtype") or "group").lower())
            name = name if name[:1].isalpha() else f"group{name}"
            level = enclosing.count(name)
            enclosing = (*enclosing, name)
            if cpus := tuple(processors(element)):
                yield Group(f"{name}{level + 1}" if level else name, cpus)
        for inner in element:
            yield from walk(inner, enclosing)

    return walk(root, ())


def distances(root: Element, nodes: Sequence[int]) -> Distances | None:
    """Returns the first matrix of latencies that covers all memory nodes with processors; None if
    there is none.
    """
    for matrix in root.iter("distances2"):
        kind = matrix.get("kind", "")
        if matrix.get("type") != "NUMANode" or not kind.isdecimal():
            continue
        if not int(kind[:9]) & MEANS_LATENCY:
            continue
        indexes, values = (_numbers(matrix, tag) for tag in ("indexes", "u64values"))
        if matrix.get("indexing") == "gp":
            names = {n.get("gp_index"): n.get("os_index", "") for n in root.iter("object")}
            indexes = [
                int(number) for n in indexes if (number := names.get(str(n)) or "").isdecimal()
            ]
        if len(values) == len(indexes) ** 2 and set(nodes) <= set(indexes):
            node_indexes = [indexes.index(node) for node in nodes]
            chosen = tuple(values[a * len(indexes) + b] for a in node_indexes for b in node_indexes)
            return Distances(tuple(nodes), chosen, matrix.get("name") == DISTANCES_NAME)
    return None


def _numbers(matrix: Element, tag: str) -> list[int]:
    numbers = " ".join(part.text or "" for part in matrix.iter(tag)).split()
    return [int(word) for word in numbers if word.isdecimal() and len(word) <= 18]


def notes(root: Element, line: int) -> Iterator[str]:
    """Yields sentences about objects that the machine file omits or describes differently."""
    objects = list(root.iter("object"))
    for kind in ("L4Cache", "L5Cache"):
        if sizes := [o.get("cache_size", "0") for o in objects if o.get("type") == kind]:
            yield f"{len(sizes)} {kind} of {_mib(sizes[0])}: left out"
    caches = [o for o in objects if o.get("type") == "MemCache"]
    if behind := [o for cache in caches for o in cache if o.get("type") == "MemCache"]:
        size = _mib(behind[0].get("cache_size", ""))
        yield f"{len(behind)} memory-side caches of {size} behind others: left out"
    lines = {o.get("cache_linesize", "0") for o in objects if "Cache" in o.get("type", "")}
    if other_lines := sorted(lines - {str(line), "0", "-1"}):
        yield f"lines of {', '.join(other_lines)} bytes are described with {line}"
    untold = {
        o.get("type", "")
        for o in objects
        if re.fullmatch("L[123]Cache", o.get("type", "")) and o.get("cache_size", "0") == "0"
    }
    if untold:
        yield f"sizes of {', '.join(sorted(untold))} are not told: the usual ones are taken"


def _mib(size: str) -> str:
    return f"{int(size) / 2**20:g} MiB" if size.isdecimal() else "unknown size"
