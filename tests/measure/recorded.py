"""Writes what Linux and hwloc would show of a machine of topologies/ (README.md has differences).

    Recorded(machine, number_of, ...).sysfs(root)     a tree like "/"
    Recorded(machine, number_of, ...).hwloc(path)     the XML of lstopo

`number_of(hart)` is the operating system's number of a hart; `offline` are numbers of offline
harts; `nodes` is the level of the memory nodes; `alone` adds memory nodes without processors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from uncore.host.computer import ranges
from uncore.topology import Machine

KIB = 1024


@dataclass(frozen=True)
class Recorded:
    machine: Machine
    number_of: Callable[[int], int]
    nodes: str
    cpuid: tuple[str, int, int] = ("AuthenticAMD", 0x17, 0x01)
    offline: tuple[int, ...] = ()
    alone: tuple[int, ...] = ()
    mhz: int = 3200
    l3: int = 8 << 20  # bytes
    slow: int = 0  # clock in MHz of the cores of another kind

    @property
    def online(self) -> list[int]:
        """Returns the numbers of the online processors in ascending order."""
        return sorted(set(map(self.number_of, range(self.machine.harts))) - set(self.offline))

    def groups(self, level: str) -> list[list[int]]:
        """Returns the online processors of each group of a level."""
        harts = range(self.machine.harts)
        if level == "core":
            of = {hart: self.machine.core_of(hart) for hart in harts}
        else:
            depth = self.machine.levels.index(level)
            cores = [shape[depth] for shape in self.machine.shape]
            of = {hart: cores[self.machine.core_of(hart)] for hart in harts}
        numbers: dict[int, list[int]] = {}
        for hart in harts:
            numbers.setdefault(of[hart], []).append(self.number_of(hart))
        return [sorted(set(group) & set(self.online)) for group in numbers.values()]

    def caches(self) -> list[tuple[int, str, int, int, list[list[int]]]]:
        """Returns level, type, size, ways and sharing processors of each kind of cache."""
        caches, machine = [], self.machine
        for name in machine.kind_names:
            cores = [c for c, kind in enumerate(machine.core_kinds) if kind == name]
            core = machine.each_core[cores[0]]
            own = [self.groups("core")[c] for c in cores]
            caches += [
                (1, "Data", core.l1_sets * core.l1_ways * 64, core.l1_ways, own),
                (1, "Instruction", 64 * KIB, 4, own),
            ]
            if core.l2_sets:
                caches.append((2, "Unified", core.l2_sets * core.l2_ways * 64, core.l2_ways, own))
            else:
                shared = [r for r in machine.resolvers if not set(cores).isdisjoint(r.children)]
                cpus = self.groups("core")
                groups = [[cpu for core in r.children for cpu in cpus[core]] for r in shared]
                size = shared[0].data_sets * shared[0].data_ways * 64
                caches.append((2, "Unified", size, shared[0].data_ways, groups))
        last = next(r.level for r in machine.resolvers if 0 in r.children)
        return [*caches, (3, "Unified", self.l3, 16, self.groups(last))]

    # ---- Linux -----------------------------------------------------------------------------------

    def sysfs(self, root: Path) -> Path:
        system = root / "sys/devices/system"
        everything = sorted({*self.online, *self.offline})
        put(system / "cpu/online", ranges(self.online))
        put(system / "cpu/offline", ranges(self.offline))
        put(system / "cpu/present", ranges(everything))
        for package, group in enumerate(self.groups("socket")):
            for cpu in group:
                put(system / f"cpu/cpu{cpu}/topology/physical_package_id", package)
                put(system / f"cpu/cpu{cpu}/topology/die_id", 0)
        for group, kind in zip(self.groups("core"), self.machine.core_kinds, strict=True):
            mhz = self.mhz if kind == "core" else self.slow
            for cpu in group:
                put(system / f"cpu/cpu{cpu}/topology/core_cpus_list", ranges(group))
                put(system / f"cpu/cpu{cpu}/cpufreq/cpuinfo_max_freq", mhz * 1000)
        for index, (level, kind, size, ways, groups) in enumerate(self.caches()):
            for group in groups:
                for cpu in group:
                    at = system / f"cpu/cpu{cpu}/cache/index{index}"
                    put(at / "level", level)
                    put(at / "type", kind)
                    put(at / "size", f"{size // KIB}K")
                    put(at / "ways_of_associativity", ways)
                    put(at / "shared_cpu_list", ranges(group))
        for number, cpus in self.memory():
            put(system / f"node/node{number}/cpulist", ranges(cpus))
            put(system / f"node/node{number}/meminfo", f"Node {number} MemTotal:  65536000 kB")
        put(system / "clocksource/clocksource0/current_clocksource", "tsc")
        vendor, family, model = self.cpuid
        lines = [f"vendor_id\t: {vendor}", f"cpu family\t: {family}", f"model\t\t: {model}"]
        put(root / "proc/cpuinfo", "\n".join([*lines, f"model name\t: {self.machine.name}"]))
        put(root / "proc/sys/kernel/osrelease", "6.1.0-uncore-simulated")
        return root

    def memory(self) -> list[tuple[int, Sequence[int]]]:
        return [*enumerate(self.groups(self.nodes)), *((number, ()) for number in self.alone)]

    # ---- hwloc -----------------------------------------------------------------------------------

    def hwloc(self, path: Path) -> Path:
        top = ElementTree.Element("topology", version="2.0")
        attributes = {"complete_cpuset": bitmap([*self.online, *self.offline])}
        machine = ElementTree.SubElement(top, "object", type="Machine", os_index="0", **attributes)
        vendor, family, model = self.cpuid
        for index, package in enumerate(self.groups("socket")):
            made = ElementTree.SubElement(machine, "object", type="Package", os_index=str(index))
            info = {"CPUVendor": vendor, "CPUFamilyNumber": family, "CPUModelNumber": model}
            for name, value in (info | {"CPUModel": self.machine.name}).items():
                ElementTree.SubElement(made, "info", name=name, value=str(value))
            self._parts(made, package)
        for number in self.alone:
            # hwloc shows memory that is equally near to all processors like this
            node(machine, number, self.online)
        ElementTree.ElementTree(top).write(path)
        return path

    def _parts(self, package: ElementTree.Element, cpus: Sequence[int]) -> None:
        caches = [(f"L{n}Cache", s, w, g) for n, k, s, w, g in self.caches() if k != "Instruction"]
        for number, near in self.memory():
            if set(near) <= set(cpus) and near:
                part = ElementTree.SubElement(package, "object", type="Group")
                node(part, number, near)
                self._nested(part, near, caches[::-1])

    def _nested(self, above: ElementTree.Element, cpus: Sequence[int], caches: list) -> None:
        if not caches:
            core = ElementTree.SubElement(above, "object", type="Core")
            for cpu in cpus:
                ElementTree.SubElement(core, "object", type="PU", os_index=str(cpu))
            return
        kind, size, ways, groups = caches[0]
        for group in groups:
            if set(group) <= set(cpus):
                attributes = {"cache_size": str(size), "cache_associativity": str(ways)}
                made = ElementTree.SubElement(above, "object", type=kind, **attributes)
                self._nested(made, group, caches[1:])


def node(above: ElementTree.Element, number: int, cpus: Sequence[int]) -> None:
    attributes = {"os_index": str(number), "local_memory": "1000000", "cpuset": bitmap(cpus)}
    ElementTree.SubElement(above, "object", type="NUMANode", **attributes)


def bitmap(cpus: Sequence[int]) -> str:
    bits = sum(1 << cpu for cpu in cpus)
    arguments = range(bits.bit_length() // 32 + 1)
    return ",".join(f"0x{bits >> 32 * word & 0xFFFFFFFF:08x}" for word in reversed(arguments))


def put(path: Path, value: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{value}\n")
