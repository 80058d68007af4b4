"""Writes a machine as hwloc's XML, version 2, like `lstopo --of xml`.

    xml(machine) -> str      for lstopo -i FILE, HWLOC_XMLFILE, or `uncore measure --hwloc`

Levels become packages, dies and groups; resolvers with data become caches; a memory node belongs to
the smallest part that contains all cores to which it is the nearest. PUs have the numbers of the
real system's CPUs (`cpus`). The distance of two nodes is the time in ns to read a line of one node
from the stop of the other, on an idle fabric.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import count
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from uncore.topology.cpus import hart_of_cpu
from uncore.topology.machine import Machine
from uncore.topology.route import Routes, nearest_memories

TYPES = {"socket": "Package", "chip": "Package", "package": "Package", "die": "Die"}
UNIFIED, DATA = 0, 1  # values of hwloc's HWLOC_OBJ_CACHE_UNIFIED, HWLOC_OBJ_CACHE_DATA
LATENCY_BY_USER = 2 + 4  # HWLOC_DISTANCES_KIND_FROM_USER | ..._MEANS_LATENCY
XML_HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE topology SYSTEM "hwloc2.dtd">\n'


def xml(machine: Machine) -> str:
    root = Element("topology", version="2.0")
    _Tree(machine).put(root)
    indent(root)
    return XML_HEAD + tostring(root, encoding="unicode") + "\n"


def bitmap(bits: Iterable[int]) -> str:
    """Formats a set of bits as hwloc does: words of 32 bits, the most significant first."""
    value = sum(1 << bit for bit in set(bits))
    words: list[str] = []
    while value or not words:
        words.append(f"0x{value & 0xFFFFFFFF:08x}")
        value >>= 32
    return ",".join(reversed(words))


def _cores_below(machine: Machine) -> list[set[int]]:
    """Returns the cores under each resolver."""
    cores_below: list[set[int]] = []
    for resolver in machine.resolvers:
        cores = (
            ({c} if c < machine.cores else cores_below[c - machine.cores])
            for c in resolver.children
        )
        cores_below.append(set().union(*cores))
    return cores_below


class _Tree:
    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.numbers = count(1)
        cpu_of = {h: cpu for cpu, h in enumerate(hart_of_cpu(machine)) if h is not None}
        self.cpus = [
            [cpu_of[hart] for hart in machine.harts_of(core) if hart in cpu_of]
            for core in range(machine.cores)
        ]
        first = [machine.harts_of(core)[0] for core in range(machine.cores)]
        self.nearest_node = nearest_memories(machine, first)
        self.cores_under = _cores_below(machine)

    def put(self, root: Element) -> None:
        cores = [core for core in range(self.machine.cores) if self.cpus[core]]
        machine_object = self._object(root, "Machine", 0, cores)
        machine_object.set("allowed_cpuset", machine_object.get("cpuset", ""))
        machine_object.set("allowed_nodeset", machine_object.get("nodeset", ""))
        SubElement(machine_object, "info", name="Backend", value="uncore")
        SubElement(machine_object, "info", name="CPUModel", value=self.machine.name)
        self._add_nodes(machine_object, cores, ())
        self._add_parts(machine_object, cores, 1)
        self._add_distances(root)

    def _object(self, parent: Element, kind: str, number: int, cores: list[int]) -> Element:
        cpus = bitmap(cpu for core in cores for cpu in self.cpus[core])
        nodes = bitmap(
            {self.nearest_node[core] for core in cores} | self._nodes_without_cores(kind)
        )
        attributes = {"cpuset": cpus, "complete_cpuset": cpus}
        attributes |= {"nodeset": nodes, "complete_nodeset": nodes}
        if not (kind.endswith("Cache") or kind == "Group"):
            attributes["os_index"] = str(number)
        attributes |= {"type": kind, "gp_index": str(next(self.numbers))}
        return SubElement(parent, "object", attributes)

    def _nodes_without_cores(self, kind: str) -> set[int]:
        """Returns the nodes that are not the nearest node of any core, which belong to the whole
        machine.
        """
        nodes = set(range(len(self.machine.memories)))
        return nodes - set(self.nearest_node) if kind in ("Machine", "NUMANode") else set()

    def _add_parts(self, outer: Element, cores: list[int], depth: int) -> None:
        level = self.machine.levels[depth]
        if level == "core":
            for core in cores:
                self._add_core(outer, core)
            return
        for part_path, part_cores in self._split(cores, depth):
            part = self._object(outer, TYPES.get(level, "Group"), part_path[-1], part_cores)
            if level not in TYPES:
                part.set("subtype", level)
                part.set("kind", "1")
            self._add_nodes(part, part_cores, part_path)
            self._add_parts(self._cache_of(part, level, part_cores), part_cores, depth + 1)

    def _split(self, cores: list[int], depth: int) -> Iterator[tuple[tuple[int, ...], list[int]]]:
        paths = {core: self.machine.shape[core][: depth + 1] for core in cores}
        for path in dict.fromkeys(paths.values()):
            yield tuple(path), [core for core in cores if paths[core] == path]

    # ---- contents of a part

    def _cache_of(self, part: Element, level: str, cores: list[int]) -> Element:
        for number, resolver in enumerate(self.machine.resolvers):
            cores_under = self.cores_under[number] & set(cores)
            if resolver.level == level and resolver.data_sets and cores_under:
                depth = 1 + max(self._caches_within(core, number) for core in cores_under)
                return self._cache(part, depth, resolver.data_sets, resolver.data_ways, cores)
        return part

    def _caches_within(self, core: int, resolver: int) -> int:
        """Returns the number of private and shared caches between a core and this resolver."""
        levels = {
            other.level
            for number, other in enumerate(self.machine.resolvers[:resolver])
            if other.data_sets and core in self.cores_under[number]
        }
        return 1 + bool(self.machine.each_core[core].l2_sets) + len(levels)

    def _cache(self, outer: Element, depth: int, sets: int, ways: int, cores: list[int]) -> Element:
        cache = self._object(outer, f"L{depth}Cache", 0, cores)
        cache.set("cache_size", str(sets * ways * self.machine.line))
        cache.set("depth", str(depth))
        cache.set("cache_linesize", str(self.machine.line))
        cache.set("cache_associativity", str(ways))
        cache.set("cache_type", str(DATA if depth == 1 else UNIFIED))
        return cache

    def _add_core(self, outer: Element, core: int) -> None:
        costs = self.machine.each_core[core]
        if costs.l2_sets:
            outer = self._cache(outer, 2, costs.l2_sets, costs.l2_ways, [core])
        outer = self._cache(outer, 1, costs.l1_sets, costs.l1_ways, [core])
        element = self._object(outer, "Core", core, [core])
        for cpu in self.cpus[core]:
            unit = self._object(element, "PU", cpu, [core])
            unit.set("cpuset", bitmap([cpu]))
            unit.set("complete_cpuset", bitmap([cpu]))

    # ---- memory

    def _add_nodes(self, part: Element, cores: list[int], path: tuple[int, ...]) -> None:
        """Adds the memory nodes that belong to this part, which for each of them is the smallest
        part that contains all cores to which the node is nearest.
        """
        for number, memory in enumerate(self.machine.memories):
            nearest_cores = [core for core, node in enumerate(self.nearest_node) if node == number]
            if path == (self._smallest_part(nearest_cores) if nearest_cores else ()):
                outer = part
                if memory.cache_sets:
                    outer = self._cache(part, 1, memory.cache_sets, memory.cache_ways, cores)
                    outer.attrib |= {"type": "MemCache", "cache_type": str(UNIFIED)}
                node = self._object(outer, "NUMANode", number, cores)
                node.set("local_memory", str(memory.size))
                for element in {outer, node} - {part}:
                    element.set("nodeset", bitmap([number]))
                    element.set("complete_nodeset", bitmap([number]))

    def _smallest_part(self, cores: list[int]) -> tuple[int, ...]:
        """Returns the path of the smallest part that contains all these cores; () means the whole
        machine.
        """
        depth = self.machine.levels.index("core")
        for length in range(depth, 1, -1):
            paths = {self.machine.shape[core][:length] for core in cores}
            if len(paths) == 1:
                return tuple(paths.pop())
        return ()

    def _add_distances(self, root: Element) -> None:
        memories = self.machine.memories
        if len(memories) < 2:
            return
        routes = Routes(self.machine)
        values = [
            routes.message("control", a.stop, b.stop)
            + b.hit
            + routes.message("data", b.stop, a.stop)
            for a in memories
            for b in memories
        ]
        matrix = SubElement(
            root, "distances2", type="NUMANode", nbobjs=str(len(memories)),
            kind=str(LATENCY_BY_USER), name="uncoreLatency", indexing="os",
        )  # fmt: skip
        for tag, numbers in (
            ("indexes", range(len(memories))),
            ("u64values", (round(value / 1000) for value in values)),
        ):
            text = "".join(f"{number} " for number in numbers)
            SubElement(matrix, tag, length=str(len(text))).text = text
