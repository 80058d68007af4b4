"""Describes a machine as text, for `uncore show`.

tree_text(machine)          the tree with joins, caches and resolvers; equal parts share a line
explained_text(machine)     this text, followed by an explanation of its terms
"""

from __future__ import annotations

from collections import Counter
from functools import partial
from itertools import groupby

from uncore.topology import migration
from uncore.topology.machine import Core, Machine, Resolver

RESOLVER_EXPLANATION = (
    "resolver: the directory, or slice of a shared cache, that orders the requests for a line;\n"
    "root: the last one, beside memory; docs/glossary.md has the other words"
)


def explained_text(machine: Machine) -> str:
    return f"{tree_text(machine)}\n\n{RESOLVER_EXPLANATION}"


def tree_text(machine: Machine) -> str:
    head = [
        f"{machine.name} ({machine.id})",
        f"{machine.cores} cores, {machine.harts} harts, {_memories(machine)},"
        f" {machine.protocol.upper()}{', hashed routes' * machine.hashed_routes}",
        migration.description(machine),
    ]
    lines = list(head)
    for depth, level in enumerate(machine.levels[:-2]):
        lines += [f"{'  ' * depth}{line}" for line in _level(machine, depth, level)]
    kinds = {"core": machine.core} | {kind.name: kind.core for kind in machine.kinds}
    for name in machine.kind_names:
        label = name if name == "core" else f"core, {name}"
        cores = [core for core, kind in enumerate(machine.core_kinds) if kind == name]
        threads = sorted({len(machine.harts_of(core)) for core in cores})
        text = f"{len(cores)} x {label}: {_core(kinds[name], threads, machine.line)}"
        lines.append(f"{'  ' * (len(machine.levels) - 2)}{text}")
    return "\n".join(lines)


def _memories(machine: Machine) -> str:
    own_count = len(machine.nodes_of(""))
    others = [
        f", {len(machine.nodes_of(kind))} of {kind}{_size_and_cache(machine, kind)}"
        for kind in machine.memory_kinds
    ]
    return (
        f"{own_count} memory node{'s' * (own_count > 1)}{_size_and_cache(machine, '')}"
        + "".join(others)
    )


def _size_and_cache(machine: Machine, kind: str) -> str:
    """Describes a memory node of a kind: its size, if nodes differ in size, and its cache."""
    node = machine.memories[machine.nodes_of(kind)[0]]
    differ = any(memory.size != node.size for memory in machine.memories)
    cache = node.cache_sets * node.cache_ways * machine.line
    cache_text = f" behind {_bytes(cache)} {node.cache_ways}-way" if cache else ""
    return (f" of {_bytes(node.size)}" if differ else "") + cache_text


def _level(machine: Machine, depth: int, level: str) -> list[str]:
    """Describes the level's groups in one line, and then its resolvers; equal resolvers share a
    line.
    """
    sizes = Counter(core[depth] for core in machine.shape)
    per_group = sorted(set(sizes.values()))
    count = f"{len(sizes)} x {level}" if len(sizes) > 1 else level
    cores = f"{per_group[0]} to {per_group[-1]}" if len(per_group) > 1 else str(per_group[0])
    lines = [f"{count}: {cores} core{'s' * (cores != '1')}{_links(machine, level)}"]
    resolvers = [r for r in machine.resolvers if r.level == level]
    for description, run in groupby(resolvers, key=partial(_resolver, line=machine.line)):
        names = [resolver.name for resolver in run]
        lines.append(
            f"  resolver {' .. '.join(dict.fromkeys((names[0], names[-1])))}: {description}"
        )
    return lines


def _links(machine: Machine, level: str) -> str:
    """Describes the level's join by the number of its links, one for each direction, and their
    latencies.
    """
    level_links = [link for link in machine.links if link.level == level]
    if not level_links:
        return ""
    low, high = min(link.control for link in level_links), max(link.data for link in level_links)
    span = " to ".join(dict.fromkeys((_ns(low), _ns(high))))
    return f", {len(level_links)} links of {span}"


def _resolver(resolver: Resolver, line: int) -> str:
    slices = f", {len(resolver.slices)} slices" if len(resolver.slices) > 1 else ""
    root = ", root" if not resolver.parents else ""
    size = resolver.data_sets * resolver.data_ways * line
    data = f", {resolver.data} {_bytes(size)} {resolver.data_ways}-way" if size else ""
    return (
        f"{resolver.knows}{root}{slices}{data}; reply {resolver.reply},"
        f" unblock on {resolver.unblock}, service {_ns(resolver.service)},"
        f" grants {_grants(resolver)}"
    )


def _grants(resolver: Resolver) -> str:
    return f"until {_ns(resolver.grants_until)}" if resolver.grants_until else str(resolver.grants)


def _core(core: Core, threads: list[int], line: int) -> str:
    l1 = f"L1 {_bytes(core.l1_sets * core.l1_ways * line)} {_ns(core.l1_hit)}"
    l2 = f", L2 {_bytes(core.l2_sets * core.l2_ways * line)} {_ns(core.l2_hit)}"
    return (
        f"{' or '.join(map(str, threads))} thread{'s' * (threads[-1] > 1)}, {l1}"
        f"{l2 if core.l2_sets else ''}, atomic {_ns(core.atomic)}, hold {_ns(core.hold)}"
    )


def _ns(ps: int) -> str:
    return f"{ps / 1000:.3g} ns"


def _bytes(size: int) -> str:
    for unit, base in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size >= base:
            return f"{size / base:g} {unit}"
    return f"{size} B"
