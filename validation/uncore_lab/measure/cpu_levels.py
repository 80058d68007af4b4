"""The levels of a computer: what groups its cores, and how these groups nest.

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

Core = tuple[int, ...]  # its processors
Parts = Mapping[Core, int]  # core -> number of the part that it is in; NO_PART: none
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

    def add(self, name: str, parts: Parts, first: bool = False) -> None:
        """Adds a level. `first`: it is placed outside of levels that have the same parts."""
        outer = [_within(parts, other) for other in self.parts]
        inner = [_within(other, parts) for other in self.parts]
        if not all(o or i for o, i in zip(outer, inner, strict=True)):
            self.notes.append(f"parts called {name} cut across others: left out")
            return
        at = sum(o and not (first and i) for o, i in zip(outer, inner, strict=True))
        at = max(at, 1) if self.parts and outer[0] else at  # within packages
        self.names.insert(at, name)
        self.parts.insert(at, parts)

    def same(self, parts: Parts) -> int | None:
        """Returns the index of the level that has the same parts; None if there is none."""
        for at, other in enumerate(self.parts):
            told = any(part != NO_PART for part in other.values())
            if told and _within(parts, other) and _within(other, parts):
                return at
        return None


def _within(fine: Parts, coarse: Parts) -> bool:
    """True if each part of `fine` lies in one part of `coarse`."""
    around: dict[int, int] = {}
    return all(
        around.setdefault(part, coarse[core]) == coarse[core]
        for core, part in fine.items()
        if part != NO_PART
    )


def find(computer: Computer, needs: Collection[str]) -> CpuLevels:
    found = _Finder()
    cpu = {cpu.number: cpu for cpu in computer.cpus}
    cores = computer.cores()
    found.add("socket", {core: cpu[core[0]].package for core in cores})
    last, second = (_cache(computer, cores, level) for level in (3, 2))
    if "ccx" in needs or any(part != NO_PART for part in last.values()):
        found.add("ccx", last)
    if any(part != NO_PART for part in second.values()):
        found.add("cluster", second)
    _add_nodes(found, computer, {core: cpu[core[0]].die for core in cores})
    for name, parts in _groups(computer, cores):
        _add_group(found, name, parts)
    return _kept(found, needs, last, second)


def _cache(computer: Computer, cores: list[Core], level: int) -> Parts:
    """Maps each core to the first processor of its cache; in level 2, only shared caches count."""
    caches = computer.shared(level)
    own = {core: caches.get(core[0]) for core in cores}
    return {
        core: cache.cpus[0] if cache and (level > 2 or set(cache.cpus) - set(core)) else NO_PART
        for core, cache in own.items()
    }


def _add_nodes(found: _Finder, computer: Computer, die: Parts) -> None:
    """Adds memory nodes as dies, if the computer reports no dies and a package has
    several nodes.
    """
    package = found.parts[0]
    dies = {core: (package[core] << 20) + number for core, number in die.items()}
    nodes = computer.node_of()
    near = {core: nodes.get(core[0], NO_PART) for core in dies}
    told = not _within(package, dies)
    if told:
        found.add("die", dies, first=True)
    if len(set(near.values()) - {NO_PART}) > 1 and not (told and found.same(near) is not None):
        finer = _within(near, package)
        found.add("die" if finer and not told else "node", near, first=True)


def _groups(computer: Computer, cores: list[Core]) -> Iterator[tuple[str, Parts]]:
    for name in dict.fromkeys(group.name for group in computer.groups):
        of = {
            cpu: g.cpus[0] for g in computer.groups if g.name == name and g.cpus for cpu in g.cpus
        }
        yield name, {core: of.get(core[0], NO_PART) for core in cores}


def _add_group(found: _Finder, name: str, parts: Parts) -> None:
    """Adds a group as a level. If a level has the same parts, it only takes the group's name, if
    the group has a real one.
    """
    at = found.same(parts)
    if at is None:
        found.add(name if name not in (*found.names, *RESERVED_LEVELS) else f"{name}-group", parts)
    elif at and not name.startswith("group") and name not in (*found.names, *RESERVED_LEVELS):
        found.names[at] = name


def _kept(found: _Finder, needs: Collection[str], last: Parts, second: Parts) -> CpuLevels:
    """Returns the levels that have several parts, are needed, or have shared caches."""
    names: list[str] = []
    kept: list[Parts] = []
    caches = {"last": "", "second": ""}
    for depth, (name, parts) in enumerate(zip(found.names, found.parts, strict=True)):
        keys = [tuple(each[core] for each in found.parts[: depth + 1]) for core in parts]
        divides = len(set(keys)) > len({key[:-1] for key in keys})
        if not depth or divides or name in needs or parts is second:
            names.append(name)
            kept.append(parts)
        for cache, of in (("last", last), ("second", second)):
            if parts is of and any(part != NO_PART for part in of.values()):
                caches[cache] = names[-1]
    return CpuLevels(
        tuple(names), tuple(kept), caches["last"], caches["second"], tuple(found.notes)
    )
