"""Finds the levels of a computer: the parts that group its cores, and how these groups nest.

    find(computer, needs) -> CpuLevels

Packages come first, then third-level caches, shared second-level caches, dies, memory nodes and
operating-system groups.  Each is placed among the earlier ones, outside of finer levels and inside
coarser ones.  A grouping that cuts across others is no level, and a note says so.  A level with a
single part is left out, unless a family `needs` it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

from uncore.host.computer import Computer

Core = tuple[int, ...]  # the processors of one core
Parts = Mapping[Core, int]  # number of the part that contains each core, or NO_PART
NO_PART = -1
RESERVED_LEVELS = ("core", "system", "thread")


@dataclass(frozen=True)
class CpuLevels:
    names: tuple[str, ...]  # outermost first
    parts: tuple[Parts, ...]
    last: str  # level whose parts have third-level caches; "" if none has
    second: str  # level whose parts share second-level caches; "" if none does
    notes: tuple[str, ...]


@dataclass
class _Finder:
    names: list[str] = field(default_factory=list)
    parts: list[Parts] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, name: str, parts: Parts, outside_equal: bool = False) -> None:
        """Adds a level. With `outside_equal`, a level with the same parts lies inside of it."""
        outer = [_is_finer(parts, other_parts) for other_parts in self.parts]
        inner = [_is_finer(other_parts, parts) for other_parts in self.parts]
        if not all(o or i for o, i in zip(outer, inner, strict=True)):
            self.notes.append(f"parts called {name} cut across others: left out")
            return
        position = sum(o and not (outside_equal and i) for o, i in zip(outer, inner, strict=True))
        position = max(position, 1) if self.parts and outer[0] else position  # within packages
        self.names.insert(position, name)
        self.parts.insert(position, parts)

    def index_of_same_parts(self, parts: Parts) -> int | None:
        """Returns the index of the level that has the same parts; None if there is none."""
        for index, other_parts in enumerate(self.parts):
            is_known = any(part != NO_PART for part in other_parts.values())
            if is_known and _is_finer(parts, other_parts) and _is_finer(other_parts, parts):
                return index
        return None


def _is_finer(fine: Parts, coarse: Parts) -> bool:
    """True if each part of `fine` lies in one part of `coarse`."""
    coarse_part_of: dict[int, int] = {}
    return all(
        coarse_part_of.setdefault(part, coarse[core]) == coarse[core]
        for core, part in fine.items()
        if part != NO_PART
    )


def find(computer: Computer, needs: Collection[str]) -> CpuLevels:
    finder = _Finder()
    cpu = {cpu.number: cpu for cpu in computer.cpus}
    cores = computer.cores()
    finder.add("socket", {core: cpu[core[0]].package for core in cores})
    last, second = (_cache(computer, cores, level) for level in (3, 2))
    if "ccx" in needs or any(part != NO_PART for part in last.values()):
        finder.add("ccx", last)
    if any(part != NO_PART for part in second.values()):
        finder.add("cluster", second)
    _add_nodes(finder, computer, {core: cpu[core[0]].die for core in cores})
    for name, parts in _groups(computer, cores):
        _add_group(finder, name, parts)
    return _useful_levels(finder, needs, last, second)


def _cache(computer: Computer, cores: list[Core], level: int) -> Parts:
    """Maps each core to the first processor of its cache; ignores private second-level caches."""
    caches = computer.shared(level)
    cache_of = {core: caches.get(core[0]) for core in cores}
    return {
        core: cache.cpus[0] if cache and (level > 2 or set(cache.cpus) - set(core)) else NO_PART
        for core, cache in cache_of.items()
    }


def _add_nodes(finder: _Finder, computer: Computer, die: Parts) -> None:
    """Adds memory nodes as dies, if the computer reports no dies and a package has
    several nodes.
    """
    package = finder.parts[0]
    dies = {core: (package[core] << 20) + number for core, number in die.items()}
    nodes = computer.node_of()
    node_parts = {core: nodes.get(core[0], NO_PART) for core in dies}
    cross_packages = not _is_finer(package, dies)
    if cross_packages:
        finder.add("die", dies, outside_equal=True)
    if len(set(node_parts.values()) - {NO_PART}) > 1 and not (
        cross_packages and finder.index_of_same_parts(node_parts) is not None
    ):
        finer = _is_finer(node_parts, package)
        finder.add(
            "die" if finer and not cross_packages else "node", node_parts, outside_equal=True
        )


def _groups(computer: Computer, cores: list[Core]) -> Iterator[tuple[str, Parts]]:
    for name in dict.fromkeys(group.name for group in computer.groups):
        part_of_cpu = {
            cpu: g.cpus[0] for g in computer.groups if g.name == name and g.cpus for cpu in g.cpus
        }
        yield name, {core: part_of_cpu.get(core[0], NO_PART) for core in cores}


def _add_group(finder: _Finder, name: str, parts: Parts) -> None:
    """Adds a group as a level. If a level already has the same parts, it is only renamed after the
    group, provided that the group has a name of its own.
    """
    index = finder.index_of_same_parts(parts)
    if index is None:
        finder.add(
            name if name not in (*finder.names, *RESERVED_LEVELS) else f"{name}-group", parts
        )
    elif index and not name.startswith("group") and name not in (*finder.names, *RESERVED_LEVELS):
        finder.names[index] = name


def _useful_levels(
    finder: _Finder, needs: Collection[str], last: Parts, second: Parts
) -> CpuLevels:
    """Returns the levels that have several parts, are needed by a family, or have shared caches."""
    names: list[str] = []
    parts_of_levels: list[Parts] = []
    caches = {"last": "", "second": ""}
    for depth, (name, parts) in enumerate(zip(finder.names, finder.parts, strict=True)):
        keys = [
            tuple(parts_of_level[core] for parts_of_level in finder.parts[: depth + 1])
            for core in parts
        ]
        divides = len(set(keys)) > len({key[:-1] for key in keys})
        if not depth or divides or name in needs or parts is second:
            names.append(name)
            parts_of_levels.append(parts)
        for cache, cache_parts in (("last", last), ("second", second)):
            if parts is cache_parts and any(part != NO_PART for part in cache_parts.values()):
                caches[cache] = names[-1]
    return CpuLevels(
        tuple(names), tuple(parts_of_levels), caches["last"], caches["second"], tuple(finder.notes)
    )
